"""Everything a person looks at: tables, figures, report, page. Views read an atlas and measure nothing."""
