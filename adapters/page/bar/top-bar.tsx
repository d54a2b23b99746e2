import { may } from '../data/account.js'
import { changeQuery, query } from '../data/address.js'
import { exportRun } from '../export/export-state.js'
import { FiltersButton } from '../facets/filters-button.js'
import { Brand } from '../ui/brand.js'
import { Icon } from '../ui/icon.js'
import { useKeys } from '../ui/keyboard.js'
import { lazy } from '../ui/lazy.js'
import type { LiveState } from '../list/live-state.js'
import { liveState, togglePause, waitingCount } from '../list/live-updates.js'
import { withoutConjunct } from '../data/query.js'
import { texts } from '../ui/texts.js'
import { dialog } from '../ui/dialog.js'
import { copyCurl, copyLink } from '../list/copy-commands.js'
import { openBuilder, shownRange } from '../ui/query-commands.js'
import { focusBar, QueryBar } from './query-bar.js'
import { rangeText } from '../ui/range-text.js'

/** CSS classes of the live button by state. */
const LIVE_CLASSES: Readonly<Record<LiveState, string>> = {
  live: '',
  held: 'held',
  paused: 'paused',
  offline: 'held off',
  stopped: 'held off',
  fixed: 'held inactive',
  sorted: 'held inactive',
  long: 'held inactive',
}

const ExportProgress = lazy(() => import('../export/export-progress.js'), 'ExportProgress')
const ZoneButton = lazy(
  () => import('./zone-button.js'),
  'ZoneButton',
  undefined,
  <span class="btn zone" />,
)

function LiveButton() {
  const state = liveState.value
  const waiting = waitingCount.value
  const isShown = waiting > 0 && (state === 'held' || state === 'paused')
  return (
    <button
      type="button"
      class={`btn live ${LIVE_CLASSES[state]}`}
      aria-pressed={state === 'live' || state === 'held'}
      title={texts.bar.liveHints[state]}
      onClick={togglePause}
    >
      <span class="live-dot" />
      {texts.bar.live[state]}
      {isShown && <span class="number">+{texts.common.number(waiting)}</span>}
    </button>
  )
}

function removeLast(event: KeyboardEvent): void {
  const last = query.value.where.at(-1)
  if (!last) return
  event.preventDefault()
  changeQuery((query) => withoutConjunct(query, last))
}

function openOnKey(event: KeyboardEvent, open: () => void): void {
  event.preventDefault()
  open()
}

const openIfMayExport = (name: 'export' | 'report') => (event: KeyboardEvent) => {
  if (may('export')) openOnKey(event, () => (dialog.value = name))
}

/** The top bar, and the shortcuts for its commands. */
export function TopBar() {
  useKeys({
    '/': (event) => openOnKey(event, focusBar),
    b: (event) => openOnKey(event, openBuilder),
    e: openIfMayExport('export'),
    p: openIfMayExport('report'),
    '?': (event) => openOnKey(event, () => (dialog.value = 'keys')),
    y: () => void copyLink(),
    c: () => void copyCurl(),
    Backspace: removeLast,
  })
  return (
    <header class="bar">
      <a class="brand" href={location.pathname}>
        <Brand />
      </a>
      <QueryBar />
      <div class="tools">
        <FiltersButton />
        <button
          type="button"
          class="btn range"
          aria-haspopup="dialog"
          aria-expanded={dialog.value === 'range'}
          onClick={() => (dialog.value = dialog.value === 'range' ? undefined : 'range')}
        >
          <Icon name="clock" />
          {rangeText(shownRange.value)}
        </button>
        <ZoneButton />
        <LiveButton />
        {may('export') && (
          <button
            type="button"
            class="btn square"
            aria-label={texts.bar.export}
            onClick={() => (dialog.value = 'export')}
          >
            <Icon name="out" />
            {exportRun.value && <ExportProgress />}
          </button>
        )}
        <button
          type="button"
          class="btn square"
          aria-label={texts.bar.more}
          aria-haspopup="dialog"
          onClick={() => (dialog.value = 'more')}
        >
          <Icon name="dots" />
        </button>
      </div>
    </header>
  )
}
