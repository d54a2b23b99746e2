import { Icon } from '../icon.js'
import { texts } from '../texts.js'
import { dialog } from '../ui.js'

/** Opens the facets where they have no column. */
export function FiltersButton() {
  return (
    <button
      type="button"
      class="btn filters"
      aria-haspopup="dialog"
      onClick={() => (dialog.value = 'filters')}
    >
      <Icon name="filter" />
      {texts.facets.drawer}
    </button>
  )
}
