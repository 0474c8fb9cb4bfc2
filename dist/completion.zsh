#compdef stagger stagger-bench
# zsh completion for stagger and stagger-bench: what can follow is found by ../../stagger/complete.

local complete=${${(%):-%x}:A:h:h:h}/stagger/complete
local -a given=("${(@Q)words[1,CURRENT]}") candidates
local line tab=$'\t'

if [[ $given[-1] == --*=* ]]; then
    given[-1]=("${given[-1]%%=*}" "${given[-1]#*=}")
    compset -P 1 '*='
fi
given[1]=${${~given[1]}:c}
for line in "${(@f)$(sh $complete "${(@)given}")}"; do
    case $line in
    :files) _files ; return ;;
    :directories) _files -/ ; return ;;
    :command*)
        shift ${line#* } words
        (( CURRENT -= ${line#* } ))
        _normal
        return
        ;;
    ?*) candidates+=("${${line%%$tab*}//:/\\:}${${(M)line%%$tab*}:+:${line#*$tab}}") ;;
    esac
done
_describe -V 'stagger' candidates
