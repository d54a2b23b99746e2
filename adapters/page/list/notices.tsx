import { useEffect, useState } from 'preact/hooks'
import { account } from '../data/account.js'
import { formatClock, formatNumber } from '../data/format.js'
import { Mark } from '../ui/icon.js'
import { loss, tryNow } from './connection.js'
import { failure, held, tryAgain } from './loading.js'
import { texts } from '../ui/texts.js'
import { reasonOf } from './load-failure.js'

const SECOND_MS = 1000

/** Seconds until a time, counted down. */
function useCountdown(until: number): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS)
    return () => clearInterval(timer)
  }, [])
  return Math.max(0, Math.ceil((until - now) / SECOND_MS))
}

function Countdown({ until }: { until: number }) {
  const seconds = useCountdown(until)
  const { nextTry, seconds: unit } = texts.states.offline
  return (
    <span aria-hidden="true">
      {' '}
      {nextTry} <b>{unit(formatNumber(seconds))}</b>.
    </span>
  )
}

function Offline() {
  if (!loss.value) return null
  const { since, retryAt } = loss.value
  const words = texts.states.offline
  return (
    <div class="notice l-warn">
      <Mark level="warn" />
      <span>
        <span role="status">{words.text(formatClock(since).time)}</span>
        {retryAt === undefined ? ` ${words.trying}` : <Countdown until={retryAt} />}
      </span>
      <button type="button" class="link" onClick={tryNow}>
        {words.now}
      </button>
    </div>
  )
}

/** The rows are there, and what was asked for next is not. */
function Failure() {
  if (!failure.value || held.value.events.length === 0) return null
  return (
    <div class="notice l-warn" role="status">
      <Mark level="warn" />
      <span>
        {reasonOf(failure.value)} {texts.states.failed.stays}
      </span>
      <button type="button" class="link" onClick={tryAgain}>
        {texts.states.failed.again}
      </button>
    </div>
  )
}

/** Lines above the list about the list as a whole. */
export function Notices() {
  return (
    <>
      <Offline />
      <Failure />
      {account.value?.restricted && <p class="notice plain">{texts.states.restricted}</p>}
    </>
  )
}
