# Datasets behind FILE:: and values of options, which the command knows; everything else as above.
_holdall() {
    local -a found
    local word="${(Q)PREFIX}"
    if [[ "$word" == *::* || "$word" == --*=* || "${words[CURRENT-1]}" == -* ]]; then
        found=("${(@0)$(command holdall __complete -- "${(@Q)words[2,CURRENT-1]}" "$word" 2>/dev/null)}")
        found=("${(@)found:#}")
    fi
    if (( $#found )); then
        compadd -- "${(@)found}"
    else
        _holdall_static "$@"
    fi
}
