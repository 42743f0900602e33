# Datasets behind FILE:: and values of options, which the command knows.
function __holdall_values
    set -l before (commandline -opc)
    set -l word (string unescape -- (commandline -ct))
    command holdall __complete -- $before[2..] "$word" 2>/dev/null | string split0
end

complete -c holdall -n 'string match -q "*::*" -- (commandline -ct)' -f -a '(__holdall_values)'
