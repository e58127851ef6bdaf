export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/**
 * The script by which a shell asks `program` for the words that may come next. `program --complete SHELL WORD…` prints them, one a line,
 * or a slash for files of this machine: no name on a server has a slash.
 */
export function completionScript(shell: Shell, program: string): string {
  const functionName = `_${program.replace(/[^A-Za-z0-9_]/g, '_')}_complete`
  return scripts[shell].replaceAll('PROGRAM', program).replaceAll('FUNCTION', functionName)
}

/**
 * The script passes the line unchanged, since bash cuts words at colons, and gets quoted words back. It uses a loop instead of `mapfile`,
 * and hides errors of `compopt`: macOS has bash 3.2.
 */
const bash = `# bash completion of PROGRAM. For this shell: source <(PROGRAM completion bash)
FUNCTION() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    if [[ $word == / ]]; then return; fi
    COMPREPLY+=("$word")
  done < <(PROGRAM --complete bash "\${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
  compopt +o default +o bashdefault 2>/dev/null
  if [[ \${#COMPREPLY[@]} == 1 && \${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o bashdefault -o default -F FUNCTION PROGRAM
`

const zsh = `#compdef PROGRAM
# zsh completion of PROGRAM. For this shell: source <(PROGRAM completion zsh)
FUNCTION() {
  local -a lines words_only descriptions
  local line
  lines=("\${(@f)$(PROGRAM --complete zsh "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  if [[ \${lines[1]} == / ]]; then
    _files
    return
  fi
  for line in $lines; do
    words_only+=("\${line%%$'\\t'*}")
    descriptions+=("\${\${line%%$'\\t'*}}  \${line#*$'\\t'}")
  done
  if [[ \${lines[1]} == *$'\\t'* ]]; then
    compadd -l -d descriptions -a words_only
  else
    compadd -a words_only
  fi
}
if [[ \${zsh_eval_context[-1]} == loadautofunc ]]; then
  FUNCTION "$@"
else
  compdef FUNCTION PROGRAM
fi
`

const fish = `# fish completion of PROGRAM. For good: PROGRAM completion fish > ~/.config/fish/completions/PROGRAM.fish
function FUNCTION
    set -l words (commandline -opc) (string unescape -- (commandline -ct); or echo)
    set -l lines (PROGRAM --complete fish $words[2..-1] 2>/dev/null)
    if test "$lines[1]" = /
        __fish_complete_path (commandline -ct)
    else if set -q lines[1]
        printf '%s\\n' $lines
    end
end
complete -c PROGRAM -f -a '(FUNCTION)'
`

const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish }
