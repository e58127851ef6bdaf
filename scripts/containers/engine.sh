# Sourced by scripts/test: a container engine that answers. Needs prepare.sh and programs.sh.

engine_pid=
engine_folder=
engine_remedy='Start one (docker info must answer), or leave out what needs it: scripts/test --without-containers.'

# Takes the engine that is there, or else, where this is possible, starts one that runs until stop_engine.
ensure_engine() {
  if ! engine_answers; then
    [[ -z ${DOCKER_HOST:-} ]] ||
      fail "no container engine answers at $DOCKER_HOST, which DOCKER_HOST names. $engine_remedy"
    can_install || fail "no container engine answers, and only root on Debian can be given one. $engine_remedy"
    command -v dockerd >/dev/null || install_engine
    start_engine
  fi
  # The command follows Docker's contexts; the tests' library knows this variable only.
  [[ -n ${DOCKER_HOST:-} ]] || DOCKER_HOST=$(docker context inspect --format '{{.Endpoints.docker.Host}}' 2>/dev/null) ||
    DOCKER_HOST=
  [[ -z $DOCKER_HOST ]] || export DOCKER_HOST
}

engine_answers() {
  command -v docker >/dev/null && docker info >/dev/null 2>&1
}

install_engine() {
  say 'Installing docker.io, a container engine ...'
  install_packages docker.io iptables || fail "docker.io could not be installed; the reason is above. $engine_remedy"
}

# Its images stay from run to run, in the engine's usual place, and so does its pid file: that keeps it from starting
# beside one that runs and is only silent, which would harm both. It listens on a socket that only we know.
start_engine() {
  say 'Starting dockerd for this run ...'
  engine_folder=$(mktemp -d)
  export DOCKER_HOST=unix://$engine_folder/docker.sock
  # A session of its own: Ctrl-C is for the tests, which need the engine until they have ended.
  setsid dockerd --host "$DOCKER_HOST" --ip 127.0.0.1 >"$engine_folder/log" 2>&1 </dev/null &
  engine_pid=$!
  local attempts=${engine_attempts:-120}
  while ((attempts-- > 0)) && kill -0 "$engine_pid" 2>/dev/null; do
    engine_answers && return
    sleep 0.5
  done
  tail -n 20 "$engine_folder/log" >&2
  fail "dockerd does not come up; the end of its log is above. $engine_remedy"
}

# Stops the engine if we started it, and waits for its end. For every way out of scripts/test.
stop_engine() {
  [[ -n $engine_pid ]] || return 0
  local attempts=60
  kill "$engine_pid" 2>/dev/null || true
  while ((attempts-- > 0)) && kill -0 "$engine_pid" 2>/dev/null; do sleep 0.5; done
  kill -KILL "$engine_pid" 2>/dev/null || true
  rm -rf "$engine_folder"
  engine_pid=
}
