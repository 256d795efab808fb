"""The page of `crowdcover open`: plan, try, release and approve in a browser of this machine.

opening.py: the server; opened.py: what was named   guard.py: who may ask for what
session.py: what the page knows   app.py: routes    answers.py: pages, refusals, files
looking.py: work beside the page, such as reading the source; opening.py shows it, too
draft.py, edits.py, columns.py: a plan   jobs.py: commands as processes; following.py: their logs
*_views.py: what each route does         tried.py: what `try` gave; released/: a release
templates/: the pages. They load nothing but the style sheet of this server, and run no script.
"""
