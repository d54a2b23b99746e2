import { useEffect, useState } from 'preact/hooks'
import { formatNumber, formatSecond } from '../data/format.js'
import { Mark } from '../ui/icon.js'
import { lazy } from '../ui/lazy.js'
import { connectionLoss, tryNow } from './connection.js'
import { failure, loadedWindow, tryAgain, warnings } from './loading.js'
import { texts } from '../ui/texts.js'
import { errorText } from './load-failure.js'

const RightsNotice = lazy(() => import('./rights-notice.js'), 'RightsNotice')

const SECOND_MS = 1000

/** The seconds left until a time. */
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
  if (!connectionLoss.value) return null
  const { since, retryAt } = connectionLoss.value
  const words = texts.states.offline
  return (
    <div class="notice level-warn">
      <Mark level="warn" />
      <span>
        <span role="status">{words.text(formatSecond(new Date(since)))}</span>
        {retryAt === undefined ? ` ${words.trying}` : <Countdown until={retryAt} />}
      </span>
      <button type="button" class="link" onClick={tryNow}>
        {words.now}
      </button>
    </div>
  )
}

/** Shown above existing rows when the next request failed. */
function Failure() {
  if (!failure.value || loadedWindow.value.events.length === 0) return null
  return (
    <div class="notice level-warn" role="status">
      <Mark level="warn" />
      <span>
        {errorText(failure.value)} {texts.states.failed.stays}
      </span>
      <button type="button" class="link" onClick={tryAgain}>
        {texts.states.failed.again}
      </button>
    </div>
  )
}

/** Shown if the service has found that the query may have an unintended meaning. */
function Warnings() {
  return warnings.value.map((warning) => (
    <div key={warning} class="notice level-warn" role="status">
      <Mark level="warn" />
      <span>{texts.states.warning(warning)}</span>
    </div>
  ))
}

/** Notices above the list: offline, failed request, doubtful query, restricted view. */
export function Notices() {
  return (
    <>
      <Offline />
      <Failure />
      <Warnings />
      <RightsNotice />
    </>
  )
}
