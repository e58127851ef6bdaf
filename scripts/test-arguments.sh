# Sourced by scripts/test: refuses arguments that mean nothing before anything is installed or built. Needs prepare.sh.

check_arguments() {
  local option='' line
  for argument; do
    if [[ -n $option ]]; then
      [[ $option != --since* ]] || check_commit "$argument"
      option=
    elif [[ $argument == -* ]]; then
      line=$(option_line "${argument%%=*}")
      [[ -n $line ]] || fail "there is no option ${argument%%=*}; scripts/test --help shows those that there are."
      [[ $argument != --since=* ]] || check_commit "${argument#*=}"
      [[ $line != *' '* || $argument == *=* ]] || option=$line
    else
      check_path "$argument"
    fi
  done
  [[ -z $option ]] || fail "${option% *} needs a value: $option."
}

option_line() {
  local line
  while IFS= read -r line; do
    if [[ ${line%% *} == "$1" ]]; then printf '%s\n' "$line"; fi
  done <"$root/scripts/test-options.txt"
}

# Takes a path or a pattern, relative to the repository.
check_path() {
  local path=$root/$1
  [[ -d $path ]] && return
  [[ -e $path ]] || (cd "$root" && shopt -s globstar && compgen -G "$1" >/dev/null) ||
    fail "there is no $1. Paths begin at the folder of the repository: a folder with tests, or a test file."
  [[ $1 == *.test.ts ]] || fail "$1 is no test file: NAME.test.ts, or a folder, is what can be run."
}

check_commit() {
  command -v git >/dev/null || fail '--since needs git.'
  git -C "$root" rev-parse --verify --quiet --end-of-options "$1^{commit}" >/dev/null ||
    fail "--since $1: git knows no such commit."
}
