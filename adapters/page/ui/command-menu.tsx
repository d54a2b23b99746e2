import type { ComponentChildren } from 'preact'
import { useDialog } from './native-dialog.js'
import { useRoving } from './roving.js'

export interface Command {
  readonly text: string
  /** The shortcut of the same command. */
  readonly key?: string
  readonly act: () => void
}

interface CommandMenuProps {
  readonly label: string
  readonly commands: readonly Command[]
  readonly close: () => void
  /** Shown above the commands. */
  readonly children?: ComponentChildren
}

/** A dialog of commands, one tab stop. A command closes it and then runs. */
export function CommandMenu({ label, commands, close, children }: CommandMenuProps) {
  const roving = useRoving<HTMLUListElement>('li')
  return (
    <dialog class="dropdown range-picker commands" aria-label={label} {...useDialog(close)}>
      {children}
      <ul {...roving}>
        {commands.map(({ text, key, act }) => (
          <li key={text}>
            <button
              type="button"
              class="range-choice"
              onClick={() => {
                close()
                act()
              }}
            >
              {text}
              {key !== undefined && <kbd aria-hidden="true">{key}</kbd>}
            </button>
          </li>
        ))}
      </ul>
    </dialog>
  )
}
