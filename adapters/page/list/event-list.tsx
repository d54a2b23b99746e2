import { useLayoutEffect, useRef } from 'preact/hooks'
import { fault, openId } from '../data/address.js'
import { Icon } from '../ui/icon.js'
import { lazy } from '../ui/lazy.js'
import { Bones } from './skeleton.js'
import { texts } from '../ui/texts.js'
import { liveState, showWaiting, waitingCount } from './live-updates.js'
import { Grid } from './grid.js'
import { failure, held, isStale } from './loading.js'
import { activate } from './row-focus.js'

const BadQuery = lazy(async () => (await import('./bad-query.js')).BadQuery)
const Empty = lazy(async () => (await import('./no-matches.js')).Empty)
const Failed = lazy(async () => (await import('./load-failure.js')).Failed)

/** New events wait: how many, and the way to them. */
function Pending() {
  if (waitingCount.value === 0 || liveState.value === 'live') return null
  return (
    <button class="pending" type="button" onClick={showWaiting}>
      <Icon name="up" />
      {texts.list.waiting(waitingCount.value)}
    </button>
  )
}

/** The focus goes back to the row whose event was open. */
function useReturn(): void {
  const last = useRef<string | undefined>(undefined)
  // At once, so that the next key finds what is open.
  useLayoutEffect(() => {
    const closed = openId.value === undefined ? last.current : undefined
    last.current = openId.value
    const { activeElement } = document
    const isLost = activeElement === document.body || activeElement === null
    if (closed !== undefined && isLost) activate(closed)
  }, [openId.value])
}

function Shown() {
  if (fault.value) return <BadQuery error={fault.value} />
  if (held.value.events.length > 0) return <Grid />
  if (failure.value) return <Failed error={failure.value} />
  return isStale.value ? <Bones /> : <Empty />
}

/** What matches the query, newest first; or why there is nothing of it. */
export function EventList() {
  useReturn()
  const isGrid = !fault.value && (held.value.events.length > 0 || isStale.value)
  return (
    <section class={isGrid ? 'events' : 'events state-of'} aria-label={texts.list.events}>
      <Shown />
      <Pending />
    </section>
  )
}
