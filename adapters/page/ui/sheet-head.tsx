import type { ComponentChild } from 'preact'
import { Icon } from './icon.js'
import { texts } from './texts.js'

/** The heading of a sheet, with its close button. */
export function SheetHead({ title, close }: { title: ComponentChild; close: () => void }) {
  return (
    <div class="builder-head">
      <h2>{title}</h2>
      <button
        type="button"
        class="btn quiet square"
        aria-label={texts.common.closeKey}
        onClick={close}
      >
        <Icon name="x" />
      </button>
    </div>
  )
}
