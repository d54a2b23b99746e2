import { Icon } from '../ui/icon.js'
import { texts } from '../ui/texts.js'
import { dialog } from '../ui/dialog.js'

/** Opens the facets in a drawer, for widths without a facet column. */
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
