# Datasets behind FILE:: and values of options, which the command knows; everything else as above.
_holdall() {
    local line word quote="" break="" candidate
    COMPREPLY=()
    line="${COMP_LINE:0:COMP_POINT}"
    if [[ "${COMP_WORDS[COMP_CWORD]}" == [\'\"]* ]]; then
        # Within quotes readline takes the whole word.
        quote="${COMP_WORDS[COMP_CWORD]:0:1}"
        word="${COMP_WORDS[COMP_CWORD]:1}"
    else
        # From the last blank that no backslash precedes.
        word="${line##*[!\\][[:space:]]}"
        # Readline replaces what is behind the last : or =.
        break="${word%"${word##*[:=]}"}"
        word="${word//\\/}" break="${break//\\/}"
    fi
    local -a before=()
    local index
    for (( index = 1; index < COMP_CWORD; index++ )); do
        before+=("${COMP_WORDS[index]}")
    done
    if [[ "$word" == *::* || "$3" == -* || "$word" == --*=* || "$word" != -* && ${#before[@]} == 1 ]]; then
        while IFS= read -r -d '' candidate; do
            if [[ -n "$quote" ]]; then
                # What would end the quotes, or expand in them, cannot be completed there.
                case "$quote$candidate" in
                    \'*\'*|\"*[\"\`\$\\]*) continue ;;
                esac
                COMPREPLY+=("$candidate")
            else
                candidate="${candidate#"$break"}"
                printf -v candidate '%q' "$candidate"
                COMPREPLY+=("$candidate")
            fi
        done < <(command holdall __complete -- "${before[@]}" "$word" 2>/dev/null)
    fi
    if (( ${#COMPREPLY[@]} == 0 )); then
        # Where a file goes, bash completes files, which options would hide.
        if [[ "$word" == -* || ${#before[@]} == 0 || "${before[0]}" == -* ]]; then
            _holdall_static "$@"
        fi
    elif [[ "${COMPREPLY[0]}" == *[:=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
