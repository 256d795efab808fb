# The levels of a column: what a cell may allow. A level is a value, a group of numbers, a missing
# value, or all categories that have no level of their own.

read_levels <- function(entry, type) {
  labels <- vapply(entry[["labels"]], as.character, "")
  kind <- entry[["kind"]]
  count <- length(labels)
  missing <- seq_len(count) <= as.integer(entry[["has_missing"]])
  lo <- hi <- shown <- rep(NA_real_, count)
  above <- rep(FALSE, count)
  if (kind %in% c("numeric", "date") && !all(missing)) {
    ends <- read_ends(entry, kind)
    lo[!missing] <- ends$lo
    hi[!missing] <- ends$hi
    above[!missing] <- ends$above
    if (length(entry[["medians"]])) shown[!missing] <- as.numeric(unlist(entry[["medians"]]))
    single <- which(lo == hi)
    shown[single] <- lo[single]
  }
  finite <- c(lo, hi)[is.finite(c(lo, hi))]
  whole <- kind == "date" ||
    (if (is.null(type)) all(finite == floor(finite)) else identical(type, "integer"))
  tree <- lapply(entry[["tree"]], function(node) {
    ends <- unlist(node[["levels"]])
    list(name = node[["name"]], below = ends[1]:ends[2] + 1L)
  })
  nodes <- NULL
  if (!is.null(entry[["nodes"]])) {
    nodes <- lapply(entry[["nodes"]], function(node) {
      ends <- unlist(node[["levels"]])
      ends[1]:ends[2] + 1L
    })
    names(nodes) <- vapply(entry[["nodes"]], `[[`, "", "name")
  }
  other <- seq_len(count) == count & isTRUE(entry[["has_other"]])
  list(
    kind = kind, ordinal = entry[["encoding"]] == "ordinal" || kind == "binary", whole = whole,
    levels = data.frame(label = labels, lo, hi, above, shown, missing, other),
    nodes = nodes, tree = tree, sets = is.null(nodes) || isTRUE(entry[["sets"]]),
    is_counted = kind %in% c("numeric", "date")
  )
}

# Ends of each level of numbers, and whether the lower one is outside.
read_ends <- function(entry, kind) {
  stated <- if (!is.null(entry[["bounds"]])) entry[["bounds"]] else entry[["values"]]
  if (is.null(stated)) {
    edges <- vapply(entry[["inner_edges"]], as_number, 0, kind = kind)
    range <- entry[["range"]]
    if (is.null(range)) range <- list(-Inf, Inf)
    return(list(
      lo = c(range[[1]], edges), hi = c(edges, range[[2]]), above = seq_len(length(edges) + 1) > 1
    ))
  }
  side <- function(at, open) {
    vapply(stated, function(each) {
      value <- if (is.list(each)) each[[at]] else each
      if (is.null(value)) open else as_number(value, kind)
    }, 0)
  }
  lo <- side(1, -Inf)
  hi <- side(2, Inf)
  is_outside <- !is.null(entry[["bounds"]]) && identical(entry[["lower"]], "excluded")
  list(lo = lo, hi = hi, above = is.finite(lo) & lo < hi & is_outside)
}

# A number; the days since 1970-01-01 of a date or of its ISO text.
as_number <- function(value, kind) {
  if (kind == "date" && !is.numeric(value)) value <- as.Date(value)
  as.numeric(value)
}

# Numbers of a column as dates or numbers.
as_column_type <- function(column, numbers) {
  if (column$kind == "date") as.Date(floor(numbers), origin = "1970-01-01") else numbers
}

# The levels of all batches of a series, and the place of each batch's levels among them.
unite_levels <- function(parts) {
  first <- parts[[1]]
  keys <- lapply(parts, function(part) {
    with(part$levels, if (part$is_counted) paste(missing, lo, hi, shown, above) else
      paste(missing, other, label))
  })
  if (length(parts) == 1) {
    first$places <- setNames(list(seq_along(keys[[1]])), names(parts))
    return(first)
  }
  all_levels <- do.call(rbind, lapply(parts, `[[`, "levels"))
  different <- !duplicated(unlist(keys))
  levels <- all_levels[different, ]
  names_of <- unlist(keys)[different]
  order <- if (first$is_counted) order(!levels$missing, levels$lo, levels$hi) else
    order(!levels$missing)
  first$levels <- levels[order, ]
  first$places <- lapply(keys, match, table = names_of[order])
  first$whole <- all(vapply(parts, `[[`, TRUE, "whole"))
  trees <- Map(function(part, place) {
    lapply(part$tree, function(node) replace(node, "below", list(place[node$below])))
  }, parts, first$places)
  first$tree <- unlist(unname(trees), recursive = FALSE)
  first
}

# The labels as answers show them: all differ.
name_levels <- function(column) {
  levels <- column$levels
  own <- levels$missing | levels$other
  ifelse(!own & levels$label %in% levels$label[own], paste0("\\", levels$label), levels$label)
}

# Finite ends of each level. An open side reaches as far as the neighbouring level is wide. In a
# column of whole numbers both ends are whole and belong to the level.
find_spans <- function(column) {
  lo <- column$levels$lo
  hi <- column$levels$hi
  ends <- sort(unique(c(lo[is.finite(lo)], hi[is.finite(hi)])))
  count <- length(ends)
  if (!column$is_counted || !count) return(list(lo = lo * NA, hi = hi * NA))
  is_open <- is.infinite(lo) & lo < 0
  open_lo <- which(is_open)
  open_hi <- which(is.infinite(hi) & hi > 0)
  widths <- if (count > 1) c(ends[2] - ends[1], ends[count] - ends[count - 1]) else c(0, 0)
  from <- ifelse(hi == Inf, ends[1], hi)
  lo[open_lo] <- from[open_lo] - widths[1]
  to <- ifelse(is_open, ends[count], lo)
  hi[open_hi] <- to[open_hi] + widths[2]
  if (column$whole) {
    outside <- column$levels$above | (is_open %in% TRUE)
    hi <- floor(hi)
    lo <- pmin(ifelse(outside, floor(lo) + 1, ceiling(lo)), hi)
  }
  list(lo = lo, hi = hi)
}

# The number that stands for each level in a mean.
find_middles <- function(column) {
  spans <- find_spans(column)
  shown <- column$levels$shown
  ifelse(is.na(shown), (spans$lo + spans$hi) / 2, shown)
}
