"""Adult under the classifiers of fhstp/k-AnonML."""
