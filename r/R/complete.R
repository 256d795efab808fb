# Completed tables: each cell replaced by one value that it allows, drawn by itself.

complete <- function(release, m = 5, seed = 1) {
  if (m < 1) stop("complete needs m of at least 1")
  state <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (is.null(state)) rm(".Random.seed", envir = globalenv()) else
    assign(".Random.seed", state, globalenv()))
  set.seed(seed)
  lapply(seq_len(m), function(number) {
    table <- release$rows
    for (column in Filter(function(each) each$role == "quasi", release$columns)) {
      level <- draw_levels(column, release$weights[[column$name]]$chance)
      table[[column$name]] <- draw_values(column, level)
    }
    table
  })
}

# A level for each row.
draw_levels <- function(column, chance) {
  level <- column$level[match(seq_along(column$sizes), column$cell)][column$which]
  rows <- split(seq_along(column$which), factor(column$which, seq_along(column$sizes)))
  pairs <- split(seq_along(column$cell), column$cell)
  for (cell in which(column$sizes > 1)) {
    drawn <- sample.int(column$sizes[cell], length(rows[[cell]]), TRUE, chance[pairs[[cell]]])
    level[rows[[cell]]] <- column$level[pairs[[cell]]][drawn]
  }
  level
}

# A value of each drawn level; within a group of numbers each is equally likely.
draw_values <- function(column, level) {
  levels <- column$levels
  if (!column$is_counted) return(ifelse(levels$missing, NA, levels$label)[level])
  spans <- find_spans(column)
  lo <- spans$lo[level]
  hi <- spans$hi[level]
  at <- stats::runif(length(level))
  # Counted down from hi, a group of fractions holds its upper end, not its lower one.
  inside <- if (column$whole) pmin(hi, lo + floor(at * (hi - lo + 1))) else hi - at * (hi - lo)
  shown <- levels$shown[level]
  as_column_type(column, ifelse(is.na(shown), inside, shown))
}

# Rubin's rules. D. B. Rubin, Multiple Imputation for Nonresponse in Surveys, Wiley 1987, 3.1.
pooled <- function(estimates, errors = rep(0, length(estimates))) {
  m <- length(estimates)
  if (m < 2 || length(errors) != m) {
    stop("pooled needs as many errors as estimates, of two completed tables or more")
  }
  within <- mean(errors^2)
  spread <- (1 + 1 / m) * stats::var(estimates)
  total <- within + spread
  data.frame(
    estimate = mean(estimates), error = sqrt(total),
    degrees = if (spread == 0) Inf else (m - 1) * (1 + within / spread)^2,
    missing = if (total) spread / total else 0
  )
}
