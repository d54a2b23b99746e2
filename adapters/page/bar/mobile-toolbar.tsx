import { may } from '../data/account.js'
import { fault, query } from '../data/address.js'
import { Icon } from '../ui/icon.js'
import { texts } from '../ui/texts.js'
import { dialog } from '../ui/dialog.js'
import { isEditing, shownRange } from '../ui/query-commands.js'
import { shortRangeText } from '../ui/range-text.js'

/** The toolbar at the bottom of the page on phones. */
export function MobileToolbar() {
  const count = fault.value ? 0 : query.value.where.length
  return (
    <nav class="mobile-toolbar" aria-label={texts.mobileToolbar.tools}>
      <button type="button" onClick={() => (dialog.value = 'filters')}>
        <Icon name="filter" />
        {texts.mobileToolbar.filters}
        {count > 0 && <span class="badge">{count}</span>}
      </button>
      <button type="button" onClick={() => (dialog.value = 'range')}>
        <Icon name="clock" />
        {shortRangeText(shownRange.value)}
      </button>
      <button
        type="button"
        onClick={() => {
          isEditing.value = true
          scrollTo({ top: 0 })
        }}
      >
        <Icon name="link" />
        {texts.mobileToolbar.query}
      </button>
      {may('export') && (
        <button type="button" onClick={() => (dialog.value = 'export')}>
          <Icon name="out" />
          {texts.mobileToolbar.export}
        </button>
      )}
      <button type="button" aria-haspopup="dialog" onClick={() => (dialog.value = 'more')}>
        <Icon name="dots" />
        {texts.mobileToolbar.more}
      </button>
    </nav>
  )
}
