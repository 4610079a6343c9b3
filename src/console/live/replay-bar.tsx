// Playing the past of a market: from when, how fast, pause and play.

import { signal } from '@preact/signals'
import { typed } from '../ui/frame.tsx'
import { inputMs, inputText } from './formats.ts'
import { bookTurn, clock, coin, played, playPast, stopPast } from './live-page.dom.ts'
import { Pick } from './panel.tsx'
import { SPEEDS } from './played-market.ts'
import { pageNow } from './runtime.dom.ts'

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
        <button type="button" onClick={() => (past.state === 'paused' ? past.resume() : past.pause())}>
          {past.state === 'paused' ? 'Resume' : 'Pause'}
        </button>
      )}
      {past && (
        <button type="button" class="main" onClick={stopPast}>
          Back to now
        </button>
      )}
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
