# A release folder, read and held against its hashes. docs/release.md has the format.

MANIFEST <- "manifest.json"
CODEBOOK <- "codebook.json"
DATA <- "data.csv.gz"
RETURN <- "\001" # stands for a carriage return while R reads lines
WHOLE <- "whole" # the batch of a release that has none

read_release <- function(folder) {
  if (!file.exists(file.path(folder, MANIFEST))) {
    stop(
      folder, " is no release folder: it has no ", MANIFEST, "; give the folder that holds ",
      DATA, " and ", MANIFEST, ", such as releases/adult/v1"
    )
  }
  manifest <- parse_document(readBin_whole(file.path(folder, MANIFEST)), MANIFEST)
  for (name in intersect(c("rows.parquet", "edges.parquet"), names(manifest[["files"]]))) {
    stop(folder, " is no release of a table, and this reads tables; its rows are in ", name)
  }
  codebook <- parse_document(read_published_file(folder, CODEBOOK, manifest), CODEBOOK)
  rows <- read_rows(read_published_file(folder, DATA, manifest))
  release <- list(manifest = manifest, k = find_middle_demand(manifest))
  release$rows <- give_types(rows, codebook)
  release$columns <- read_columns(manifest, codebook, release$rows)
  release$even <- has_masked_common_values(release$columns)
  release$weights <- lapply(release$columns, weigh_column, k = release$k, even = release$even)
  structure(release, class = "crowdcover_release")
}

print.crowdcover_release <- function(x, ...) {
  privacy <- x$manifest[["privacy"]]
  k <- unique(c(privacy[["k_min"]], privacy[["k_max"]]))
  cat(sprintf(
    "<Release %s %s: %d rows, k = %s>\n", x$manifest[["name"]], x$manifest[["version"]],
    nrow(x$rows), paste(k, collapse = " to ")
  ))
  for (column in x$columns) {
    role <- if (column$role == "quasi") "masked" else column$role
    cat(sprintf("  %s: %s, %s, %d levels\n", column$name, role, column$kind, nrow(column$levels)))
  }
  invisible(x)
}

list_levels <- function(release, col) {
  column <- find_column(release, col)
  levels <- column$levels
  shown <- data.frame(level = name_levels(column))
  if (column$is_counted) {
    finite <- function(ends) ifelse(is.finite(ends), ends, NA)
    shown$lo <- as_column_type(column, finite(levels$lo))
    shown$hi <- as_column_type(column, finite(levels$hi))
  }
  shown
}

find_column <- function(release, name) {
  column <- release$columns[[name]]
  if (is.null(column)) {
    stop(
      "the release has no column '", name, "'; it has ",
      paste0("'", names(release$columns), "'", collapse = ", ")
    )
  }
  column
}

readBin_whole <- function(path) readBin(path, "raw", file.size(path))

parse_document <- function(content, name) {
  text <- rawToChar(content)
  Encoding(text) <- "UTF-8"
  document <- tryCatch(jsonlite::fromJSON(text, simplifyVector = FALSE), error = function(e) NULL)
  if (is.null(names(document))) {
    stop(name, " is no JSON document; copy the release folder again")
  }
  document
}

# The bytes of a file, if they are those that the manifest states.
read_published_file <- function(folder, name, manifest) {
  stated <- manifest[["files"]][[name]]
  path <- file.path(folder, name)
  if (is.null(stated) || !file.exists(path)) {
    stop(
      folder, ": ", name, " is missing, or ", MANIFEST, " does not state its hash; copy the ",
      "whole release folder again"
    )
  }
  content <- readBin_whole(path)
  if (digest::digest(content, algo = "sha256", serialize = FALSE) != stated) {
    stop(
      name, " is not the file that was published: its SHA-256 differs from the one in ",
      MANIFEST, "; copy the release folder again, and do not edit its files"
    )
  }
  content
}

# The rows as text. An empty text and a missing value of a column that is not masked are alike in
# the file for this reader: both become missing.
read_rows <- function(content) {
  # The last line would else be followed by an empty one.
  text <- sub("\n$", "", rawToChar(memDecompress(content, "gzip")), useBytes = TRUE)
  # R reads a carriage return within a cell as the end of a line.
  text <- gsub("\r", RETURN, text, fixed = TRUE, useBytes = TRUE)
  Encoding(text) <- "UTF-8"
  rows <- read.csv(
    text = text, colClasses = "character", na.strings = character(), check.names = FALSE,
    encoding = "UTF-8", comment.char = "", blank.lines.skip = FALSE
  )
  rows[] <- lapply(rows, function(cells) gsub(RETURN, "\r", cells, fixed = TRUE))
  rows
}

find_middle_demand <- function(manifest) {
  privacy <- manifest[["privacy"]]
  # Rows do not tell their own k, so the middle of the demands stands for all.
  demands <- c(privacy[["k_min"]], privacy[["k_max"]])
  if (length(demands)) mean(demands) else 1
}

# The entries of the quasi-identifiers in each batch; a release without batches is one.
list_books <- function(codebook) {
  books <- codebook[["batches"]]
  if (is.null(books)) books <- setNames(list(codebook), WHOLE)
  lapply(books, function(book) {
    setNames(book[["attributes"]], vapply(book[["attributes"]], `[[`, "", "name"))
  })
}

give_types <- function(rows, codebook) {
  masked <- unlist(lapply(list_books(codebook), names))
  for (entry in codebook[["columns"]]) {
    name <- entry[["name"]]
    if (name %in% c(masked, "key") || !name %in% names(rows)) next
    text <- rows[[name]]
    text[text == ""] <- NA
    rows[[name]] <- switch(entry[["type"]],
      integer = , float = as.numeric(text), boolean = text == "true", date = as.Date(text), text
    )
  }
  rows
}

read_columns <- function(manifest, codebook, rows) {
  books <- list_books(codebook)
  stated <- codebook[["columns"]]
  if (length(stated)) names(stated) <- vapply(stated, `[[`, "", "name")
  since <- if (is.null(codebook[["batches"]])) rep(WHOLE, nrow(rows)) else as.character(rows$since)
  if (length(setdiff(since, names(books)))) stop(CODEBOOK, " is not the codebook of these rows")
  found <- list()
  for (name in setdiff(names(rows), "key")) {
    entries <- lapply(books, `[[`, name)
    found[[name]] <- if (!is.null(entries[[1]])) {
      read_masked_column(name, rows[[name]], entries, stated[[name]][["type"]], since)
    } else {
      role <- stated[[name]][["role"]]
      read_exact_column(name, rows[[name]], if (is.null(role)) "keep" else role, codebook)
    }
  }
  found
}

# A quasi-identifier: the cells of each batch by the codebook of that batch.
read_masked_column <- function(name, cells, entries, type, since) {
  parts <- lapply(entries, read_levels, type = type)
  column <- unite_levels(parts)
  which <- integer(length(cells))
  pairs <- list()
  before <- 0L
  for (batch in names(parts)) {
    rows <- since == batch
    different <- unique(cells[rows])
    # Cells are numbered batch after batch: one text may allow different levels in two batches.
    which[rows] <- before + match(cells[rows], different)
    allowed <- parse_cells(parts[[batch]], different)
    allowed <- lapply(allowed, function(levels) sort(column$places[[batch]][levels]))
    pairs <- c(pairs, allowed)
    before <- length(pairs)
  }
  column$places <- NULL
  build_column(column, name, "quasi", which, pairs)
}

# A column that is not masked: each different value is a level.
read_exact_column <- function(name, values, role, codebook) {
  levels <- sort(unique(values), na.last = FALSE)
  is_counted <- is.numeric(values) || inherits(values, "Date")
  number <- if (is_counted) as.numeric(levels) else rep(NA_real_, length(levels))
  whole <- inherits(values, "Date") || all(number == floor(number), na.rm = TRUE)
  spread <- widen_coarse_values(number, codebook, name, whole)
  table <- data.frame(
    label = ifelse(is.na(levels), "(missing)", as.character(levels)), lo = spread$lo,
    hi = spread$hi, above = FALSE, shown = number, missing = is.na(levels), other = FALSE
  )
  kind <- if (!is_counted) "categorical" else if (is.numeric(values)) "numeric" else "date"
  column <- list(kind = kind, ordinal = is_counted, levels = table, whole = whole, tree = list())
  build_column(column, name, role, match(values, levels), as.list(seq_along(levels)))
}

# The last day of the step of the calendar that begins with a day.
find_last_day <- function(days, step) {
  if (step == "day") return(days)
  if (step == "week") return(days + 6)
  months <- c(month = 1, quarter = 3, year = 12, decade = 120)[[step]]
  first <- as.POSIXlt(as.Date(days, origin = "1970-01-01"))
  first$mon <- first$mon + months
  as.numeric(as.Date(first)) - 1
}

# The least and the greatest number or day that each shown one may stand for, in any batch.
widen_coarse_values <- function(shown, codebook, name, whole) {
  lo <- hi <- shown
  books <- codebook[["batches"]]
  for (book in if (is.null(books)) list(codebook) else books) {
    for (entry in book[["coarsened"]]) {
      if (entry[["name"]] != name) next
      if (is.character(entry[["step"]])) {
        hi <- pmax(hi, find_last_day(shown, entry[["step"]]))
        next
      }
      half <- if (is.null(entry[["step"]])) 0 else entry[["step"]] / 2
      lo <- pmin(lo, if (whole) ceiling(shown - half) else shown - half)
      hi <- pmax(hi, if (whole) floor(shown + half) else shown + half)
      if (!is.null(entry[["bottom"]])) lo[which(shown == entry[["bottom"]])] <- -Inf
      if (!is.null(entry[["top"]])) hi[which(shown == entry[["top"]])] <- Inf
    }
  }
  list(lo = lo, hi = hi)
}

# Which levels each different cell allows, as pairs of a cell and a level in their order.
build_column <- function(column, name, role, which, allowed) {
  sizes <- lengths(allowed)
  column$name <- name
  column$role <- role
  column$is_counted <- column$kind %in% c("numeric", "date")
  column$which <- which
  column$sizes <- sizes
  column$cell <- rep(seq_along(allowed), sizes)
  column$level <- as.integer(unlist(allowed))
  first <- !duplicated(column$cell)
  last <- !duplicated(column$cell, fromLast = TRUE)
  column$is_interval <- column$ordinal && all(diff(column$level)[!first[-1]] == 1)
  # What somebody behind a row must have: every member of a set, both ends of an interval.
  column$anchor <- if (column$is_interval) first | last else rep(TRUE, length(first))
  column$times <- tabulate(which, length(allowed))
  column
}
