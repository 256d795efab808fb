# How likely each level is behind a cell. docs/reader.md says how and why.

HELD <- 1.5 # of k people behind a row so many hold each value that the cell must have
EVENED <- 0.75 # the power of the shares by which the others are spread
HALF_EVEN <- 0.25 # share of fitting sets from which on weights are even
ROWS <- 2000
RECORDS <- 5000

# The chance of each pair of a cell and a level, and by the weights that are as plausible.
weigh_column <- function(column, k, even) {
  sizes <- column$sizes
  uniform <- 1 / sizes[column$cell]
  if (column$role != "quasi") return(list(chance = uniform, beside = uniform))
  # A node holds values that nobody behind the row has: none of them is an anchor.
  anchor <- column$anchor & (length(column$tree) == 0 | isTRUE(column$sets))
  anchors <- add_up(as.numeric(anchor), column$cell, length(sizes))
  anchored <- pmin(1, HELD * anchors / max(1, k))
  spread <- function(level) {
    free <- level[column$level]
    free <- free / add_up(free, column$cell, length(sizes))[column$cell]
    held <- anchored[column$cell]
    ifelse(anchor, held / pmax(1, anchors)[column$cell], 0) + (1 - held) * free
  }
  count <- nrow(column$levels)
  # One step of expectation maximization only: many would let rare values vanish.
  rows <- spread(rep(1 / count, count)) * column$times[column$cell]
  shares <- add_up(rows, column$level, count) / max(1, sum(column$times))
  crowd <- spread(pmax(shares, 1e-12)^EVENED)
  if (even) list(chance = uniform, beside = crowd) else list(chance = crowd, beside = uniform)
}

# The sum of numbers by group, 0 where a group has none.
add_up <- function(numbers, group, count) {
  sums <- numeric(count)
  if (length(numbers)) {
    found <- rowsum(numbers, group)
    sums[as.integer(rownames(found))] <- found
  }
  sums
}

# Whether values were masked that are not rare: many masked sets of which every member stands in an
# exact row that fits.
has_masked_common_values <- function(columns) {
  columns <- Filter(function(column) column$role == "quasi", columns)
  if (!length(columns)) return(FALSE)
  open <- unlist(lapply(columns, function(each) each$sizes[each$which] > 1))
  open <- matrix(open, ncol = length(columns))
  masked <- take_every(which(rowSums(open) > 0), max(1, sum(rowSums(open) > 0) %/% ROWS))
  masked <- utils::head(masked, ROWS)
  whole <- which(rowSums(open) == 0)
  records <- vapply(columns, function(each) {
    each$level[match(each$which[whole], each$cell)]
  }, integer(length(whole)))
  records <- unique(matrix(records, ncol = length(columns)))
  records <- records[do.call(order, as.data.frame(records)), , drop = FALSE]
  records <- records[take_every(seq_len(nrow(records)), max(1, ceiling(nrow(records) / RECORDS))), ,
    drop = FALSE
  ]
  masks <- lapply(columns, mask_rows, rows = masked)
  fits <- matrix(TRUE, length(masked), nrow(records))
  for (at in seq_along(columns)) fits <- fits & masks[[at]][, records[, at], drop = FALSE]
  every <- cells <- 0
  for (at in seq_along(columns)) {
    rows <- which(open[masked, at])
    if (columns[[at]]$is_interval || !length(rows)) next
    shown <- matrix(FALSE, length(rows), ncol(masks[[at]]))
    for (level in unique(records[, at])) {
      shown[, level] <- rowSums(fits[rows, records[, at] == level, drop = FALSE]) > 0
    }
    every <- every + sum(rowSums(!(shown | !masks[[at]][rows, , drop = FALSE])) == 0)
    cells <- cells + length(rows)
  }
  cells > 0 && every / cells > HALF_EVEN
}

take_every <- function(of, step) of[seq_along(of) %% step == 1 %% step]

# The levels that the cells of some rows allow.
mask_rows <- function(column, rows) {
  cells <- unique(column$which[rows])
  masks <- matrix(FALSE, length(cells), nrow(column$levels))
  here <- column$cell %in% cells
  masks[cbind(match(column$cell[here], cells), column$level[here])] <- TRUE
  masks[match(column$which[rows], cells), , drop = FALSE]
}
