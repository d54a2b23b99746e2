import type { ComponentType } from 'preact'
import { dialog } from './ui/dialog.js'
import { announcement, note } from './ui/notes.js'
import { fault, managed, members, openId, openManaged } from './data/address.js'
import { columnsChoice } from './data/preferences.js'
import { QueryLine } from './bar/query-line.js'
import { TopBar } from './bar/top-bar.js'
import { lazy } from './ui/lazy.js'
import { EventList } from './list/event-list.js'
import { deniedStatus } from './list/access-status.js'
// Not lazy, because this code could not be loaded without a connection or after the end of a session.
import { AccessDenied } from './list/access-denied.js'
import { Notices } from './list/notices.js'
import { texts } from './ui/texts.js'

const closePanel = (): void => openManaged(undefined)
const closeDialog = (): void => {
  dialog.value = undefined
}

const Facets = lazy(
  () => import('./facets/facets.js'),
  'Facets',
  undefined,
  <aside class="facets" aria-label={texts.facets.region} />,
)
const OverTime = lazy(
  () => import('./over-time/over-time.js'),
  'OverTime',
  undefined,
  <section class="over-time" aria-label={texts.chart.region} />,
)
const MobileToolbar = lazy(() => import('./bar/mobile-toolbar.js'), 'MobileToolbar')
const GroupTable = lazy(() => import('./groups/group-table.js'), 'GroupTable')
const Columns = lazy(() => import('./columns/columns.js'), 'Columns')
const Panel = lazy(() => import('./panel/panel.js'), 'Panel', closePanel)
const ManagementPanel = lazy(
  () => import('./subscriptions/management-panel.js'),
  'ManagementPanel',
  closePanel,
)
const Printing = lazy(() => import('./print/printing.js'), 'Printing')

/** The dialogs by name; a report is part of what is printed. */
const DIALOGS: Readonly<Partial<Record<string, ComponentType>>> = {
  range: lazy(() => import('./bar/range-picker.js'), 'RangePicker', closeDialog),
  zone: lazy(() => import('./bar/zone-picker.js'), 'ZonePicker', closeDialog),
  builder: lazy(() => import('./builder/builder.js'), 'Builder', closeDialog),
  export: lazy(() => import('./export/export-sheet.js'), 'ExportSheet', closeDialog),
  more: lazy(() => import('./bar/more-menu.js'), 'MoreMenu', closeDialog),
  keys: lazy(() => import('./ui/keys-sheet.js'), 'KeysSheet', closeDialog),
  ledger: lazy(() => import('./ledger/ledger.js'), 'LedgerSheet', closeDialog),
  filters: lazy(() => import('./facets/filters-drawer.js'), 'FiltersDrawer', closeDialog),
}

/** The panels by the beginning of the hash. Other ones are those of subscriptions and channels. */
const PANELS: Readonly<Partial<Record<string, ComponentType>>> = {
  history: lazy(() => import('./history/history-panel.js'), 'HistoryPanel', closePanel),
  compare: lazy(() => import('./compare/compare-panel.js'), 'ComparePanel', closePanel),
  views: lazy(() => import('./views/views-panel.js'), 'ViewsPanel', closePanel),
}

function Dialogs() {
  const Shown = DIALOGS[dialog.value ?? '']
  return Shown ? <Shown /> : null
}

function SidePanel() {
  const [view] = (managed.value ?? '').split(/[=?]/)
  const Shown = view ? (PANELS[view] ?? ManagementPanel) : openId.value !== undefined && Panel
  return Shown ? <Shown /> : null
}

/** Focuses the list without changing the address, whose hash names the open event. */
function skipToList(event: MouseEvent): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('.rows [tabindex="0"]')?.focus()
}

export function App() {
  const withPanel = managed.value !== undefined || openId.value !== undefined
  if (deniedStatus.value !== undefined) return <AccessDenied status={deniedStatus.value} />
  return (
    <>
      <a class="skip" href="#events" onClick={skipToList}>
        {texts.common.skip}
      </a>
      <TopBar />
      <QueryLine />
      <Notices />
      <div class={withPanel ? 'layout with-panel' : 'layout'}>
        <Facets />
        <main>
          <OverTime />
          {(members.columns.value ?? columnsChoice.value) && <Columns />}
          {fault.value || members.groups.value === undefined ? <EventList /> : <GroupTable />}
        </main>
        <SidePanel />
      </div>
      <MobileToolbar />
      <Dialogs />
      <Printing />
      <div class="visually-hidden" role="status">
        {announcement}
      </div>
      {note.value !== undefined && (
        <p class="note" aria-hidden="true">
          {note}
        </p>
      )}
    </>
  )
}
