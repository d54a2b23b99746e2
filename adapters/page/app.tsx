import type { ComponentType } from 'preact'
import { dialog } from './ui/dialog.js'
import { announcement, note } from './ui/notes.js'
import { fault, managed, members, openId } from './data/address.js'
import { columnsChoice } from './data/preferences.js'
import { QueryLine } from './bar/query-line.js'
import { TopBar } from './bar/top-bar.js'
import { lazy } from './ui/lazy.js'
import { EventList } from './list/event-list.js'
import { deniedStatus } from './list/access-status.js'
// Not lazy: without a connection, or after the end of a session, their code could not be loaded.
import { AccessDenied } from './list/access-denied.js'
import { Notices } from './list/notices.js'
import { texts } from './ui/texts.js'

const Facets = lazy(
  async () => (await import('./facets/facets.js')).Facets,
  <aside class="facets" aria-label={texts.facets.region} />,
)
const OverTime = lazy(
  async () => (await import('./over-time/over-time.js')).OverTime,
  <section class="over-time" aria-label={texts.chart.region} />,
)
const MobileToolbar = lazy(async () => (await import('./bar/mobile-toolbar.js')).MobileToolbar)
const GroupTable = lazy(async () => (await import('./groups/group-table.js')).GroupTable)
const Columns = lazy(async () => (await import('./columns/columns.js')).Columns)
const Panel = lazy(async () => (await import('./panel/panel.js')).Panel)
const ManagementPanel = lazy(
  async () => (await import('./subscriptions/management-panel.js')).ManagementPanel,
)
const HistoryPanel = lazy(async () => (await import('./history/history-panel.js')).HistoryPanel)
const ComparePanel = lazy(async () => (await import('./compare/compare-panel.js')).ComparePanel)
const ViewsPanel = lazy(async () => (await import('./views/views-panel.js')).ViewsPanel)
const Printing = lazy(async () => (await import('./print/printing.js')).Printing)

/** The dialogs by name; a report is part of what is printed. */
const DIALOGS: Readonly<Partial<Record<string, ComponentType>>> = {
  range: lazy(async () => (await import('./bar/range-picker.js')).RangePicker),
  zone: lazy(async () => (await import('./bar/zone-picker.js')).ZonePicker),
  builder: lazy(async () => (await import('./builder/builder.js')).Builder),
  export: lazy(async () => (await import('./export/export-sheet.js')).ExportSheet),
  more: lazy(async () => (await import('./bar/more-menu.js')).MoreMenu),
  keys: lazy(async () => (await import('./ui/keys-sheet.js')).KeysSheet),
  filters: lazy(async () => (await import('./facets/filters-drawer.js')).FiltersDrawer),
}

function Dialogs() {
  const Shown = DIALOGS[dialog.value ?? '']
  return Shown ? <Shown /> : null
}

function SidePanel() {
  const [view] = (managed.value ?? '').split(/[=?]/)
  if (view === 'history') return <HistoryPanel />
  if (view === 'compare') return <ComparePanel />
  if (view === 'views') return <ViewsPanel />
  if (view) return <ManagementPanel />
  return openId.value === undefined ? null : <Panel />
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
