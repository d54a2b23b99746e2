import { useLayoutEffect, useRef } from 'preact/hooks'
import { fault, openId } from '../data/address.js'
import { concealedIn } from '../data/concealed.js'
import { Icon } from '../ui/icon.js'
import { lazy } from '../ui/lazy.js'
import { Skeleton } from './skeleton.js'
import { texts } from '../ui/texts.js'
import { liveState, showWaiting, waitingCount } from './live-updates.js'
import { Grid } from './grid.js'
// Not lazy, because its code could not be loaded without a connection.
import { LoadFailure } from './load-failure.js'
import { failure, loadedWindow, isStale } from './loading.js'
import { activate } from './row-focus.js'

const BadQuery = lazy(() => import('./bad-query.js'), 'BadQuery')
const ConcealedName = lazy(() => import('./concealed.js'), 'ConcealedName')
const NoMatches = lazy(() => import('./no-matches.js'), 'NoMatches')

/** The button that shows waiting events, with their number. */
function WaitingButton() {
  if (waitingCount.value === 0 || liveState.value === 'live') return null
  return (
    <button class="pending" type="button" onClick={showWaiting}>
      <Icon name="up" />
      {texts.list.waiting(waitingCount.value)}
    </button>
  )
}

/** Returns the focus to the row of an event when its panel closes. */
function useFocusReturn(): void {
  const last = useRef<string | undefined>(undefined)
  // A layout effect, so that the next key press finds the focus on the row.
  useLayoutEffect(() => {
    const closed = openId.value === undefined ? last.current : undefined
    last.current = openId.value
    const { activeElement } = document
    const isLost = activeElement === document.body || activeElement === null
    if (closed !== undefined && isLost) activate(closed)
  }, [openId.value])
}

function ListContent({ concealed }: { concealed: string | undefined }) {
  if (fault.value) return <BadQuery error={fault.value} />
  if (concealed !== undefined) return <ConcealedName name={concealed} error={failure.value} />
  if (loadedWindow.value.events.length > 0) return <Grid />
  if (failure.value) return <LoadFailure error={failure.value} />
  return isStale.value ? <Skeleton /> : <NoMatches />
}

/** The matching events, newest first, or a message with the reason why there are none. */
export function EventList() {
  useFocusReturn()
  const concealed = concealedIn(failure.value)
  const isGrid =
    !fault.value &&
    concealed === undefined &&
    (loadedWindow.value.events.length > 0 || isStale.value)
  return (
    <section class={isGrid ? 'events' : 'events without-grid'} aria-label={texts.list.events}>
      <ListContent concealed={concealed} />
      <WaitingButton />
    </section>
  )
}
