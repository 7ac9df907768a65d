"""Who reaches whom over the network: one evaluator over the recorded stack.

`addresses` and `model` are neutral; `kubernetes` and `aws` know the walls and the places of each; `reach` puts them
together and answers.
"""
