import type { ComponentChildren } from 'preact'
import { Icon } from './icon.js'
import { texts } from './texts.js'

interface PanelToolsProps {
  readonly close: () => void
  /** The target of the button at the left, if it is not the list. */
  readonly back?: { readonly label: string; readonly go: () => void } | undefined
  /** Content beside the button at the left. */
  readonly start?: ComponentChildren
  /** Content before the button that closes the panel. */
  readonly children?: ComponentChildren
}

/** The buttons at the top of a panel beside the list. */
export function PanelTools({ close, back, start, children }: PanelToolsProps) {
  return (
    <div class="panel-top">
      <button
        type="button"
        class={back ? 'btn quiet' : 'btn quiet back'}
        aria-label={back?.label ?? texts.panel.back}
        onClick={back?.go ?? close}
      >
        <Icon name="left" />
      </button>
      {start}
      <span class="grow" />
      {children}
      <button
        type="button"
        class="btn quiet close"
        aria-label={texts.common.closeKey}
        onClick={close}
      >
        <Icon name="x" />
      </button>
    </div>
  )
}

/** A button of a panel that copies a link. */
export function LinkTool({ label, act }: { label: string; act: () => void }) {
  return (
    <button type="button" class="btn quiet" aria-label={label} onClick={act}>
      <Icon name="link" />
    </button>
  )
}
