"""The report as one HTML file: the page's sources, and how they become one file.

`report.html` is the frame, `report.css` the looks, and the scripts are, in this order:
`model.js` (the data, search, what is selected), `layout.js` (where boxes are),
`picture.js` (which device holds what), `graph.js`, `moving.js`, `outline.js`, `details.js`,
`stages.js`, `tables.js`, and `main.js` (views and keys). No library, no network.
"""
