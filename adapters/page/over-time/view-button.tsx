import { useEffect } from 'preact/hooks'
import { managed, members, openManaged } from '../data/address.js'
import { loadViews, mayViews, openView, views } from '../data/views.js'
import { isViewChanged, showView } from '../list/view-state.js'
import { showNote } from '../ui/notes.js'
import { texts } from '../ui/texts.js'

/** The query string with which the page was opened. */
const firstSearch = (): string => {
  const [entry] = performance.getEntriesByType('navigation')
  return entry ? new URL(entry.name).search : ''
}

let isShown = false

/**
 * Loads the views if the address contains a view. For the view with which the page was opened, reports that it is
 * missing, or shows it if the address has nothing else. A view that was saved later can be missing in an older list.
 */
function useNamedView(): void {
  const { value: id } = members.view
  const mayList = mayViews('list')
  useEffect(() => {
    if (id !== undefined && mayList && views.value === undefined) void loadViews()
  }, [id, mayList])
  useEffect(() => {
    if (id === undefined || views.value === undefined || isShown) return
    isShown = true
    const first = firstSearch()
    if (id !== new URLSearchParams(first).get('view')) return
    if (!openView.value) showNote(texts.chart.noView)
    else if (/^\?view=[^&]+$/.test(first)) showView(openView.value)
  }, [id, views.value])
}

/**
 * The name of the open view, and whether it has changed. Opens the panel of views. Empty if the user may not list
 * views.
 */
export function ViewButton() {
  useNamedView()
  if (!mayViews('list')) return null
  const isOpen = managed.value === 'views'
  return (
    <button
      type="button"
      class="link subscribe view-name"
      aria-expanded={isOpen}
      onClick={() => openManaged(isOpen ? undefined : 'views')}
    >
      {openView.value ? <bdi>{openView.value.name}</bdi> : texts.chart.views}
      {isViewChanged.value && <small> · {texts.chart.viewChanged}</small>}
    </button>
  )
}
