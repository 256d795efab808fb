"""The page of `crowdcover open`: plan, try, release and approve in a browser of this machine.

opening.py: what was named, the server   guard.py: who may ask for what
session.py: what the page knows          app.py: routes     answers.py: pages, refusals, files
draft.py, edits.py, columns.py: a plan   jobs.py: `try` and `release` as processes
*_views.py: what each route does         released.py: a release as tables
templates/: the pages. They load nothing but the style sheet of this server, and run no script.
"""
