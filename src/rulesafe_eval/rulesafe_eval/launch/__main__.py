import sys

from rulesafe_eval.launch import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
