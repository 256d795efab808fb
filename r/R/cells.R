# Cells of text: A, A|B|C, lo..hi, a node, *. docs/release.md has the grammar.

# The levels that each text allows.
parse_cells <- function(column, texts) {
  names <- format_levels(column)
  begins <- stops <- names
  if (column$is_counted) {
    begins <- sub("\\.\\..*$", "", names)
    stops <- sub("^.*\\.\\.", "", names)
  }
  nodes <- column$nodes
  if (!is.null(nodes) && !column$is_counted) {
    names(nodes) <- gsub("\\*", "*", vapply(names(nodes), escape_category, ""), fixed = TRUE)
  }
  allowed <- lapply(texts, function(text) {
    if (text == "*") return(seq_along(names))
    if (text %in% names) return(match(text, names))
    if (!is.null(nodes) && (text %in% names(nodes) || !column$sets)) return(nodes[[text]])
    if (column$ordinal) parse_interval(text, begins, stops) else parse_set(text, names)
  })
  unread <- sum(lengths(allowed) == 0)
  if (unread) {
    stop(
      unread, " different cells of a column are none that its codebook allows; the data and ",
      CODEBOOK, " are not of one release: copy the folder again"
    )
  }
  allowed
}

# The levels from one end to the other; an end may hold dots itself.
parse_interval <- function(text, begins, stops) {
  for (at in seq_len(max(0, nchar(text) - 1))) {
    if (substr(text, at, at + 1) != "..") next
    low <- which(begins == substr(text, 1, at - 1))
    high <- which(stops == substring(text, at + 2))
    if (length(low) && length(high) && max(low) <= max(high)) return(max(low):max(high))
  }
  NULL
}

# The levels between bars without a backslash before them.
parse_set <- function(text, names) {
  parts <- regmatches(text, gregexpr("(?s)(?:[^\\\\|]|\\\\.)+", text, perl = TRUE))[[1]]
  found <- match(parts, names)
  # What fits no part, such as an empty part, is missing from the sum.
  if (anyNA(found) || paste(parts, collapse = "|") != text) NULL else found
}

# The text of each level as it stands in a cell, with its backslashes.
format_levels <- function(column) {
  levels <- column$levels
  if (column$is_counted) return(levels$label)
  own <- levels$missing | levels$other
  texts <- vapply(levels$label, escape_category, "", USE.NAMES = FALSE)
  texts[own] <- levels$label[own]
  hidden <- any(levels$other) & !own & levels$label == "(other)"
  texts[hidden] <- "\\(other)"
  texts
}

# A category as a cell writes it.
escape_category <- function(value) {
  if (value == "") return("\\_")
  if (value == "(missing)") return("\\(missing)")
  signs <- strsplit(value, "")[[1]]
  at <- seq_along(signs)
  dot <- signs == "."
  outer <- at == 1 | at == length(signs)
  doubled <- c(FALSE, dot[-length(dot)]) | c(dot[-1], FALSE)
  special <- signs %in% c("|", "*", "\\") | (dot & (outer | doubled))
  paste0(ifelse(special, paste0("\\", signs), signs), collapse = "")
}
