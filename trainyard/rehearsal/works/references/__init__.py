"""What names something: does it exist, is it what is meant, is it there in time?"""
