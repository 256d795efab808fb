# Counts, frequencies and means from weights.

# The dot keeps the names of columns from being taken for that of the release.
count <- function(.release, ...) {
  where <- list(...)
  if (length(where) && (is.null(names(where)) || any(names(where) == ""))) {
    stop("name the column of each condition, such as count(release, age = above(30))")
  }
  if (anyDuplicated(names(where))) {
    stop("a column has two conditions; give several values as a vector, or use between(lo, hi)")
  }
  groups <- Map(function(name, condition) {
    column <- find_column(.release, name)
    meet_levels(column, .release$weights[[name]], match_levels(column, condition))
  }, names(where), where)
  count_rows(groups, nrow(.release$rows))
}

# How far each row meets what levels of a column meet.
meet_levels <- function(column, weights, met) {
  cells <- length(column$sizes)
  by_cell <- function(numbers) add_up(numbers, column$cell, cells)
  certain <- by_cell(met$certain[column$level]) > column$sizes - 0.5
  possible <- by_cell(met$possible[column$level]) > 0.5
  chance <- function(of) {
    share <- pmin(1, pmax(0, by_cell(of * met$share[column$level])))
    ifelse(certain, 1, ifelse(possible, share, 0))
  }
  found <- list(certain, possible, chance(weights$chance), chance(weights$beside))
  lapply(found, function(each) as.numeric(each)[column$which])
}

# How many rows meet all conditions; columns are taken to be independent within a row.
count_rows <- function(groups, rows) {
  all <- Reduce(function(one, other) Map(`*`, one, other), groups, rep(list(rep(1, rows)), 4))
  expected <- sum(all[[3]])
  drawn <- sum(all[[3]] * (1 - all[[3]]))
  data.frame(
    certain = sum(all[[1]]), possible = sum(all[[2]]), expected = expected,
    error = sqrt(drawn + (expected - sum(all[[4]]))^2)
  )
}

frequencies <- function(release, col, by = NULL) {
  column <- find_column(release, col)
  weights <- release$weights[[col]]
  answers <- c("certain", "possible", "expected", "error", "share")
  label <- label_name(col, answers)
  everyone <- rep(list(rep(1, nrow(release$rows))), 4)
  if (is.null(by)) return(tabulate_frequencies(column, weights, everyone, label))
  if (by == col) stop("frequencies by a column needs two different columns")
  outer <- find_column(release, by)
  within <- name_levels(outer)
  parts <- lapply(seq_along(within), function(level) {
    here <- as.numeric(seq_along(within) == level)
    met <- list(certain = here, possible = here, share = here)
    group <- meet_levels(outer, release$weights[[by]], met)
    part <- tabulate_frequencies(column, weights, group, label)
    cbind(setNames(data.frame(within[level]), label_name(by, c(label, answers))), part)
  })
  do.call(rbind, parts)
}

# Names of answers keep their place: a column that is called like one gets another name.
label_name <- function(name, taken) {
  while (name %in% taken) name <- paste0(name, ".level")
  name
}

# Frequencies of the levels of a column within a group of rows.
tabulate_frequencies <- function(column, weights, group, label) {
  cells <- length(column$sizes)
  levels <- nrow(column$levels)
  times <- function(of_rows) add_up(of_rows, column$which, cells)[column$cell]
  by_level <- function(of_pairs) add_up(of_pairs, column$level, levels)
  expected <- by_level(weights$chance * times(group[[3]]))
  drawn <- pmax(0, expected - by_level(weights$chance^2 * times(group[[3]]^2)))
  apart <- expected - by_level(weights$beside * times(group[[4]]))
  single <- column$sizes[column$cell] == 1
  total <- sum(expected)
  found <- data.frame(
    level = name_levels(column), certain = round(by_level(ifelse(single, times(group[[1]]), 0))),
    possible = round(by_level(times(group[[2]]))), expected = expected,
    error = sqrt(drawn + apart^2), share = if (total) expected / total else expected
  )
  names(found)[1] <- label
  found
}

mean.crowdcover_release <- function(x, col, ...) {
  if (length(list(...))) stop("mean takes a release and a column; it knows no other argument")
  column <- find_column(x, col)
  if (!column$is_counted) {
    stop("column '", col, "' holds categories, which have no mean; use frequencies()")
  }
  weights <- x$weights[[col]]
  found <- estimate_mean(column, weights$chance)
  beside <- estimate_mean(column, weights$beside)
  ends <- find_cell_ends(column)
  data.frame(
    expected = found$mean, error = sqrt(found$drawn^2 + (found$mean - beside$mean)^2),
    lo = find_least_mean(ends$lo, ends$sure, column$times),
    hi = -find_least_mean(-ends$hi, ends$sure, column$times)
  )
}

# The expected mean over the rows that have a value, and its standard deviation over completed
# tables.
estimate_mean <- function(column, chance) {
  levels <- column$levels
  given <- as.numeric(!levels$missing)
  spans <- find_spans(column)
  middles <- find_middles(column)
  zero <- function(numbers) ifelse(levels$missing | is.na(numbers), 0, numbers)
  # The variance of a number that is spread evenly from lo to hi.
  inside <- ifelse(is.na(levels$shown), (spans$hi - spans$lo)^2 / 12, 0)
  by_cell <- function(of) add_up(chance * of[column$level], column$cell, length(column$sizes))
  weight <- by_cell(given)
  first <- by_cell(zero(middles))
  second <- by_cell(zero(middles^2 + inside))
  rows <- sum(column$times * weight)
  if (!rows || all(is.na(middles[!levels$missing]))) return(list(mean = NaN, drawn = NaN))
  mean <- sum(column$times * first) / rows
  spread <- second - 2 * mean * first + mean^2 * weight - (first - mean * weight)^2
  spread[spread <= 1e-12 * second] <- 0
  list(mean = mean, drawn = sqrt(sum(column$times * spread)) / rows)
}

# Least and greatest number of each cell, NA without one, and whether a value is surely given.
find_cell_ends <- function(column) {
  given <- !column$levels$missing[column$level]
  cells <- seq_along(column$sizes)
  end <- function(of, by) {
    found <- tapply(of[column$level][given], factor(column$cell[given], cells), by)
    as.vector(found)
  }
  list(
    lo = end(column$levels$lo, min), hi = end(column$levels$hi, max),
    sure = add_up(as.numeric(given), column$cell, length(cells)) == column$sizes
  )
}

# The least mean: rows that may lack a value have one only where this lowers the mean.
find_least_mean <- function(ends, sure, times) {
  number <- sum(times[sure])
  total <- sum((times * ends)[sure])
  free <- which(!sure & !is.na(ends) & times > 0)
  for (cell in free[order(ends[free])]) {
    if (number && ends[cell] >= total / number) break
    number <- number + times[cell]
    total <- total + times[cell] * ends[cell]
  }
  if (number) total / number else NaN
}
