# Conditions on a column: values, an interval, or a node of a hierarchy.

new_between <- function(lo, hi, without_lo = FALSE, without_hi = FALSE) {
  structure(
    list(lo = lo, hi = hi, without_lo = without_lo, without_hi = without_hi),
    class = "crowdcover_between"
  )
}

between <- function(lo, hi) new_between(lo, hi)
at_least <- function(lo) new_between(lo, Inf)
at_most <- function(hi) new_between(-Inf, hi)
above <- function(lo) new_between(lo, Inf, without_lo = TRUE)
below <- function(hi) new_between(-Inf, hi, without_hi = TRUE)
under <- function(node) structure(list(node = node), class = "crowdcover_under")

# How far each level meets a condition: `certain` and `possible`, 0 or 1, and `share`, 0 to 1.
match_levels <- function(column, condition) {
  if (inherits(condition, "crowdcover_between")) {
    if (!column$is_counted) {
      stop("column '", column$name, "' holds categories; name those that count")
    }
    return(match_interval(column, condition))
  }
  if (is.factor(condition)) condition <- as.character(condition)
  is_node <- inherits(condition, "crowdcover_under")
  asked <- if (is_node) list(condition) else as.list(unique(condition))
  parts <- lapply(asked, match_value, column = column)
  # Refused even beside others: counted as 0, a misspelt value would not be noticed.
  strange <- sum(vapply(parts, function(part) !any(part$possible > 0), TRUE))
  if (strange || !length(parts)) {
    stop(
      "the condition on column '", column$name, "' names ", if (strange) strange else "no",
      " value(s) that none of its ", nrow(column$levels), " levels may be; ",
      "list_levels(release, '", column$name, "') lists them, and NA means missing"
    )
  }
  join <- function(name, by) Reduce(by, lapply(parts, `[[`, name))
  share <- if (column$is_counted) pmin(1, join("share", `+`)) else join("share", pmax)
  list(certain = join("certain", pmax), possible = join("possible", pmax), share = share)
}

match_value <- function(column, value) {
  levels <- column$levels
  texts <- name_levels(column)
  if (inherits(value, "crowdcover_under")) {
    here <- seq_along(texts) %in% find_levels_below(column, value$node)
    value <- NA
  } else if (is.na(value)) {
    here <- levels$missing
  } else if (is.character(value) && value %in% texts) {
    here <- texts == value
    value <- if (levels$missing[here]) NA else levels$label[here]
  } else if (column$is_counted) {
    if (column$kind == "numeric" && !is.na(read_number(value))) value <- read_number(value)
    met <- match_interval(column, between(value, value))
    if (any(met$possible > 0) && !any(met$share > 0)) {
      stop(
        "column '", column$name, "' shows intervals, in which a single number has no width to ",
        "expect anything of; ask with between(lo, hi)"
      )
    }
    return(met)
  } else {
    here <- !levels$missing & !levels$other & is_same_value(levels$label, value)
  }
  possible <- here
  if (!is.na(value) && !any(is_same_value(levels$label[!levels$other], value))) {
    possible <- possible | levels$other
  }
  list(certain = as.numeric(here), possible = as.numeric(possible), share = as.numeric(here))
}

# Which texts are a value: this very text, or what it means. 1, 1.0 and "1" are one number, "01" and
# hexadecimal digits are none, and TRUE is true.
is_same_value <- function(texts, value) {
  same <- texts == as.character(value)
  if (any(same)) return(same)
  if (tolower(value) %in% c("true", "false")) return(tolower(texts) == tolower(value))
  if (is.na(read_number(value))) return(same)
  read_number(texts) %in% read_number(value)
}

# The numbers that texts are, NA for others.
read_number <- function(texts) {
  texts <- as.character(texts)
  is_number <- grepl("^[+-]?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]{1,3})?$", texts)
  ifelse(is_number, suppressWarnings(as.numeric(texts)), NA_real_)
}

find_levels_below <- function(column, name) {
  below <- lapply(column$tree, function(node) if (node$name == name) node$below)
  if (!length(unlist(below))) stop("column '", column$name, "' has no node '", name, "'")
  unlist(below)
}

# How far each level lies between two ends.
match_interval <- function(column, asked) {
  low <- as_end(column, asked$lo)
  high <- as_end(column, asked$hi)
  lo <- column$levels$lo
  hi <- column$levels$hi
  above <- column$levels$above
  given <- !column$levels$missing & !is.na(lo)
  from_low <- low == -Inf | lo > low | (lo == low & (above | !asked$without_lo))
  to_high <- high == Inf | hi < high | (hi == high & !asked$without_hi)
  meets_low <- hi > low | (hi == low & !asked$without_lo)
  meets_high <- lo < high | (lo == high & !above & !asked$without_hi)
  certain <- given & from_low & to_high
  possible <- given & meets_low & meets_high & low <= high
  share <- ifelse(certain, 1, ifelse(possible, find_overlap(column, asked, low, high), 0))
  list(certain = as.numeric(certain), possible = as.numeric(possible), share = share)
}

as_end <- function(column, value) {
  if (length(value) != 1 || is.na(value)) stop("an end of an interval is one value, not missing")
  if (is.numeric(value) && is.infinite(value)) return(value)
  is_day <- inherits(value, "Date") ||
    (is.character(value) && !is.na(as.Date(value, optional = TRUE)))
  if (column$kind == "date" && !is_day) {
    stop("column '", column$name, "' holds dates; give a Date, or its text such as '2024-03-05'")
  }
  if (column$kind == "numeric" && !is.numeric(value)) {
    stop("column '", column$name, "' holds numbers; give a number")
  }
  as_number(value, column$kind)
}

# The part of each level between two numbers; whole numbers are counted, others measured.
find_overlap <- function(column, asked, low, high) {
  spans <- find_spans(column)
  one <- 0
  # Whole numbers from low to high are high - low + 1, hence the one in width and overlap.
  if (column$whole) {
    one <- 1
    low <- if (asked$without_lo) floor(low) + 1 else ceiling(low)
    high <- if (asked$without_hi) ceiling(high) - 1 else floor(high)
  }
  shared <- pmin(spans$hi, high) - pmax(spans$lo, low) + one
  width <- spans$hi - spans$lo + one
  # A value has no width: it is met as a whole or not at all.
  part <- ifelse(width > 0, shared / width, as.numeric(spans$lo >= low & spans$lo <= high))
  # One group of all numbers has no width: nothing is known.
  ifelse(is.na(width), 0.5, pmin(1, pmax(0, part)))
}
