// Whether what is shown is true: the link, the book's height, age, epoch and check, and what happened before; and the past of
// a market, from when, how fast, paused and played. Invariant: changes of state are said aloud, numbers are not.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ConnectionStatus } from '../../client/api.ts'
import { Button, typed } from '../ui/frame.tsx'
import { ageText, clockText, inputMs, inputText, momentText } from './formats.ts'
import { glance } from './glance.dom.ts'
import {
  bookTurn,
  clock,
  coin,
  isBusy,
  link,
  linkState,
  liveBook,
  played,
  playPast,
  stopPast,
  timeline,
} from './live-page.dom.ts'
import { clockTrouble } from './page-time.ts'
import { Panel, Pick } from './panel.tsx'
import { SPEEDS } from './played-market.ts'
import { pageNow } from './runtime.dom.ts'

const AGE_MS = 250
/** Blocks come several times a second: what is older is no longer now. */
const OLD_MS = 5_000
const now = signal(Number.NaN)

export function StatusBar() {
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = clock.now(pageNow())
    }, AGE_MS)
    return () => clearInterval(timer)
  }, [])
  void bookTurn.value
  const past = played.value
  const live = liveBook()
  const blockMs = past ? past.timeMs : Math.max(live?.blockMs ?? 0, glance.value?.timeMs ?? 0)
  const height = past ? (past.book?.height ?? -1) : (live?.height ?? -1)
  const state = past ? `replay: ${past.state}` : (live?.state ?? 'no market')
  const trouble = clockTrouble(now.value, Date.now())
  return (
    <section class="status" aria-label="State of the data">
      <dl>
        <Fact name="Link" value={linkWords(linkState.value)} kind={linkState.value.state === 'open' ? 'good' : 'bad'} />
        <Fact name="Book" value={state} kind={state === 'in step' || past ? 'good' : 'bad'} />
        <Fact name="Height" value={height < 0 ? '–' : String(height)} />
        <Fact
          name={past ? 'Time, UTC' : 'Age'}
          value={past ? momentText(blockMs) : blockMs > 0 ? ageText(now.value - blockMs) : '–'}
          {...(!past && blockMs > 0 && now.value - blockMs > OLD_MS ? { kind: 'bad' as const } : {})}
        />
        <Fact name="Epoch" value={live?.book?.epoch.slice(0, 8) || '–'} />
        <Fact name="Checks" value={live ? String(live.book?.checks ?? 0) : '–'} />
      </dl>
      <Button
        text="Break the link"
        disabled={linkState.value.state !== 'open'}
        onClick={() => link.interrupt('the link was broken here')}
      />
      {linkState.value.state === 'fatal' && <Button text="Try again" onClick={() => link.start()} />}
      <p class="unseen" role="status">
        {coin.value ?? ''} {state}, {linkWords(linkState.value)}
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
      {linkState.value.state === 'fatal' && (
        <p class="note trouble" role="alert">
          {linkState.value.reason} <a href="/console">Sign in</a>
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

function linkWords(state: ConnectionStatus): string {
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

export function Timeline() {
  return (
    <Panel name="happened" title="What happened">
      <ol>
        {timeline.value.map(({ id, atMs, kind, text, times }) => (
          <li key={id} class={kind}>
            <time>{clockText(atMs)}</time> {text}
            {times > 1 && ` (${times} times)`}
          </li>
        ))}
      </ol>
    </Panel>
  )
}

const BACK_MS = 10 * 60_000
const from = signal('')
const speed = signal(10)
const wrong = signal<string | null>(null)

/** Unix ms of the input; null, and it is said why not. */
function fromTime(): number | null {
  const ms = from.value === '' ? clock.now(pageNow()) - BACK_MS : inputMs(from.value)
  const now = clock.now(pageNow())
  wrong.value = !Number.isFinite(ms)
    ? 'Choose a date and a time, UTC.'
    : ms >= now
      ? 'Choose a time that is over: the gateway’s time is earlier.'
      : null
  return wrong.value === null ? Math.floor(ms) : null
}

export function ReplayBar() {
  void bookTurn.value
  const past = played.value
  const begin = (event: Event) => {
    event.preventDefault()
    const ms = fromTime()
    if (ms === null) return
    if (from.value === '') from.value = inputText(ms)
    if (past && past.state !== 'over') past.seek(ms)
    else playPast(ms, speed.value)
  }
  const isRunning = past !== null && past.state !== 'over'
  return (
    <form class="replay" onSubmit={begin} aria-label="Replay">
      <label>
        Replay from, UTC
        <input type="datetime-local" step="1" {...typed(from)} />
      </label>
      <Pick
        label="Speed"
        value={speed.value}
        of={SPEEDS}
        text={(one) => `${one}×`}
        isDisabled={isRunning}
        onPick={(one) => (speed.value = one)}
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
      {past && <Button text="Back to now" class="main" onClick={stopPast} />}
      {past?.state === 'waiting' && (
        <p class="note" role="status">
          Waiting for the archive: it takes a minute at a time, so what is younger comes when its minute is over.
        </p>
      )}
      {wrong.value && (
        <p class="note trouble" role="alert">
          {wrong.value}
        </p>
      )}
    </form>
  )
}
