// Whether what is shown is true: the link, the book's height, age, epoch and check, and what happened before; and the past of
// a market, from when, how fast, paused and played. Invariant: changes of state are said aloud, numbers are not.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ConnectionStatus } from '../../client/api.ts'
import { Button, bindInput } from '../ui/frame.tsx'
import { ageText, clockText, dateTimeInputText, parseDateTimeInput, timestampText } from './formats.ts'
import { glance } from './glance.dom.ts'
import {
  activity,
  bookVersion,
  clock,
  coin,
  connection,
  connectionState,
  isBusy,
  liveBook,
  replay,
  startReplay,
  stopReplay,
} from './live-page.dom.ts'
import { SPEEDS } from './market-replay.ts'
import { clockWarning } from './page-time.ts'
import { Panel, PanelSelect } from './panel.tsx'
import { pageNow } from './runtime.dom.ts'

const AGE_MS = 250
/** Blocks come several times a second: what is older is no longer now. */
const STALE_MS = 5_000
const now = signal(Number.NaN)

export function StatusBar() {
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = clock.now(pageNow())
    }, AGE_MS)
    return () => clearInterval(timer)
  }, [])
  void bookVersion.value
  const past = replay.value
  const live = liveBook()
  const blockMs = past ? past.timeMs : Math.max(live?.blockMs ?? 0, glance.value?.timeMs ?? 0)
  const height = past ? (past.book?.height ?? -1) : (live?.height ?? -1)
  const state = past ? `replay: ${past.state}` : (live?.state ?? 'no market')
  const trouble = clockWarning(now.value, Date.now())
  return (
    <section class="status" aria-label="State of the data">
      <dl>
        <Fact
          name="Link"
          value={connectionText(connectionState.value)}
          kind={connectionState.value.state === 'open' ? 'good' : 'bad'}
        />
        <Fact name="Book" value={state} kind={state === 'in step' || past ? 'good' : 'bad'} />
        <Fact name="Height" value={height < 0 ? '–' : String(height)} />
        <Fact
          name={past ? 'Time, UTC' : 'Age'}
          value={past ? timestampText(blockMs) : blockMs > 0 ? ageText(now.value - blockMs) : '–'}
          {...(!past && blockMs > 0 && now.value - blockMs > STALE_MS ? { kind: 'bad' as const } : {})}
        />
        <Fact name="Epoch" value={live?.book?.epoch.slice(0, 8) || '–'} />
        <Fact name="Checks" value={live ? String(live.book?.checks ?? 0) : '–'} />
      </dl>
      <Button
        text="Break the link"
        disabled={connectionState.value.state !== 'open'}
        onClick={() => connection.interrupt('the link was broken here')}
      />
      {connectionState.value.state === 'fatal' && <Button text="Try again" onClick={() => connection.start()} />}
      <p class="unseen" role="status">
        {coin.value ?? ''} {state}, {connectionText(connectionState.value)}
      </p>
      {live?.state === 'gone' && (
        <p class="note trouble" role="alert">
          There is no market {JSON.stringify(coin.value)} here: choose one from the list.
        </p>
      )}
      {live?.state === 'refused' && (
        <p class="note trouble" role="alert">
          The book of {JSON.stringify(coin.value)} is refused: {live.why}
        </p>
      )}
      {glance.value && (
        <p class="note">
          {isBusy.value ? (
            <>
              Busy: this page shows a book every five seconds, until there is room for live data.{' '}
              <a href="/console">Sign in</a> to have it live.
            </>
          ) : (
            'Reconnecting: until then this page shows a book every five seconds.'
          )}
        </p>
      )}
      {connectionState.value.state === 'fatal' && (
        <p class="note trouble" role="alert">
          {connectionState.value.reason} <a href="/console">Sign in</a>
        </p>
      )}
      {trouble && <p class="note">{trouble}</p>}
    </section>
  )
}

function Fact({ name, value, kind }: { name: string; value: string; kind?: 'good' | 'bad' }) {
  return (
    <div class={kind}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function connectionText(state: ConnectionStatus): string {
  switch (state.state) {
    case 'open':
      return 'up'
    case 'waiting':
      return `down: ${state.reason}; again in ${ageText(state.retryMs)}`
    case 'fatal':
      return 'refused'
    default:
      return state.state
  }
}

export function ActivityPanel() {
  return (
    <Panel name="happened" title="What happened">
      <ol>
        {activity.value.map(({ id, atMs, kind, text, times }) => (
          <li key={id} class={kind}>
            <time>{clockText(atMs)}</time> {text}
            {times > 1 && ` (${times} times)`}
          </li>
        ))}
      </ol>
    </Panel>
  )
}

const REPLAY_DEFAULT_MS = 10 * 60_000
const replayFrom = signal('')
const replaySpeed = signal(10)
const replayError = signal<string | null>(null)

/** Unix ms of the input; null, and it is said why not. */
function replayStart(): number | null {
  const ms = replayFrom.value === '' ? clock.now(pageNow()) - REPLAY_DEFAULT_MS : parseDateTimeInput(replayFrom.value)
  const now = clock.now(pageNow())
  replayError.value = !Number.isFinite(ms)
    ? 'Choose a date and a time, UTC.'
    : ms >= now
      ? 'Choose a time that is over: the gateway’s time is earlier.'
      : null
  return replayError.value === null ? Math.floor(ms) : null
}

export function ReplayBar() {
  void bookVersion.value
  const past = replay.value
  const begin = (event: Event) => {
    event.preventDefault()
    const ms = replayStart()
    if (ms === null) return
    if (replayFrom.value === '') replayFrom.value = dateTimeInputText(ms)
    if (past && past.state !== 'over') past.seek(ms)
    else startReplay(ms, replaySpeed.value)
  }
  const isRunning = past !== null && past.state !== 'over'
  return (
    <form class="replay" onSubmit={begin} aria-label="Replay">
      <label>
        Replay from, UTC
        <input type="datetime-local" step="1" {...bindInput(replayFrom)} />
      </label>
      <PanelSelect
        label="Speed"
        value={replaySpeed.value}
        options={SPEEDS}
        text={(one) => `${one}×`}
        isDisabled={isRunning}
        onSelect={(one) => (replaySpeed.value = one)}
      />
      <button type="submit" disabled={coin.value === null}>
        {isRunning ? 'Go there' : 'Play'}
      </button>
      {isRunning && (
        <Button
          text={past.state === 'paused' ? 'Resume' : 'Pause'}
          onClick={() => (past.state === 'paused' ? past.resume() : past.pause())}
        />
      )}
      {past && <Button text="Back to now" class="main" onClick={stopReplay} />}
      {past?.state === 'waiting' && (
        <p class="note" role="status">
          Waiting for the archive: it takes a minute at a time, so what is younger comes when its minute is over.
        </p>
      )}
      {replayError.value && (
        <p class="note trouble" role="alert">
          {replayError.value}
        </p>
      )}
    </form>
  )
}
