import { changeQuery, query } from '../data/address.js'
import { matching } from '../data/matching.js'
import { eventsText } from '../ui/count-text.js'
import { Icon } from '../ui/icon.js'
import { useDialog } from '../ui/native-dialog.js'
import { texts } from '../ui/texts.js'
import { dialog } from '../ui/dialog.js'
import { FacetList } from './facet-list.js'
import { LanguageChoice } from './language-choice.js'

const close = (): void => {
  dialog.value = undefined
}

/** The facets in a drawer, for widths without a facet column: at the side, on phones at the bottom. */
export function FiltersDrawer() {
  const sheet = useDialog(close)
  const filters = query.value.where.length
  const number = matching.value
  return (
    <dialog class="sheet drawer" aria-label={texts.facets.drawer} {...sheet}>
      <div class="drawer-head">
        <h2>{texts.facets.drawer}</h2>
        {filters > 0 && (
          <button
            type="button"
            class="link"
            onClick={() => changeQuery((query) => ({ ...query, where: [] }))}
          >
            {texts.facets.clear(filters)}
          </button>
        )}
      </div>
      <div class="drawer-body" tabIndex={0} role="region" aria-label={texts.facets.region}>
        <FacetList within="drawer" />
        <LanguageChoice />
      </div>
      <div class="drawer-foot">
        <button type="button" class="btn" onClick={() => (dialog.value = 'builder')}>
          <Icon name="plus" />
          {texts.facets.condition}
        </button>
        <button type="button" class="btn main" onClick={close}>
          {number?.total
            ? texts.facets.show(eventsText(number.total, number.exact))
            : texts.facets.close}
        </button>
      </div>
    </dialog>
  )
}
