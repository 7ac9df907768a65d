"""The handover of an environment, and the proposal of one: documents for a client's manager and their engineers.

model.py       what a document is made of: parts, sections, blocks of plain text
subject.py     what is told of: a review with its plan, its picture and what goes with them
manager.py     what the client has, pays for, is protected by, and should watch
engineer.py    network, access, queues, storage, alerts with runbooks, drills, the end
evidence.py    each policy with what became of it, each price with its source
proof.py       results of smoke jobs
page.py        all of it as one self-contained page; pdf.py, through a browser
"""
