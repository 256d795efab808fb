"""What is measured of a released sparse matrix: classes, majorities, attackers."""
