"""The lesson and the docs as static pages: templates, styles, scripts, and the builders that fill them."""
