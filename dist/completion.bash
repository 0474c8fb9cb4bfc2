# bash completion for stagger and stagger-bench: what can follow is found by ../../stagger/complete.
# shellcheck shell=bash
_stagger_complete=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../stagger" && pwd)/complete

_stagger() {
    # bash's own words are split at = and :, as they stand in rules and values.
    local line=${COMP_LINE:0:COMP_POINT} given current prefix candidate number
    read -ra given <<<"$line"
    [[ $line == *[[:space:]] ]] && given+=("")
    current=${given[${#given[@]} - 1]}
    if [[ $current == --*=* ]]; then
        given[${#given[@]} - 1]=${current%%=*}
        current=${current#*=}
        given+=("$current")
    fi
    prefix=${current%"${current##*[:=]}"}
    given[0]=$(eval "type -P -- ${given[0]}" 2>/dev/null) # eval for ~
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        case $candidate in
        :files | :directories)
            compopt -o filenames
            local how=-f
            [[ $candidate == :directories ]] && how=-d
            mapfile -t COMPREPLY < <(compgen "$how" -- "${current#"$prefix"}")
            ;;
        :command*)
            # Where the other command is among bash's words, which may be more.
            number=${candidate#* }
            while ((number < COMP_CWORD)) && [[ ${COMP_WORDS[number]} != "${given[${candidate#* }]}" ]]; do
                number=$((number + 1))
            done
            if ((number < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
                _command_offset "$number"
            elif ((number < COMP_CWORD)) && declare -F _comp_command_offset >/dev/null; then
                _comp_command_offset "$number"
            else
                compopt -o filenames
                mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -f -- "$current")
            fi
            ;;
        *)
            [[ $candidate == "$current"* ]] && COMPREPLY+=("${candidate#"$prefix"}")
            [[ $candidate == *[:=] ]] && compopt -o nospace
            ;;
        esac
    done < <(sh "$_stagger_complete" "${given[@]}")
}
complete -F _stagger stagger stagger-bench
