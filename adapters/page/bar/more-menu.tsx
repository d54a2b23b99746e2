import { copyCurl, copyLink } from '../list/copy-commands.js'
import { liveState, togglePause } from '../list/live-updates.js'
import { may } from '../data/account.js'
import { toggleTheme } from '../data/preferences.js'
import { zone } from '../data/address.js'
import { dialog } from '../ui/dialog.js'
import { useDialog } from '../ui/native-dialog.js'
import { openBuilder } from '../ui/query-commands.js'
import { useRoving } from '../ui/roving.js'
import { moreTexts } from './more-texts.js'

interface Command {
  readonly text: string
  readonly key?: string
  readonly act: () => void
}

const commands = (): readonly Command[] => [
  { text: moreTexts.builder, key: 'b', act: openBuilder },
  ...(may('export')
    ? [{ text: moreTexts.report, key: 'p', act: () => (dialog.value = 'report') }]
    : []),
  { text: moreTexts.link, key: 'y', act: () => void copyLink() },
  { text: moreTexts.curl, key: 'c', act: () => void copyCurl() },
  { text: moreTexts.zone(zone.value), key: 'u', act: () => (dialog.value = 'zone') },
  {
    text: liveState.value === 'paused' ? moreTexts.resume : moreTexts.pause,
    key: 'l',
    act: togglePause,
  },
  { text: moreTexts.theme, act: toggleTheme },
  { text: moreTexts.keys, key: '?', act: () => (dialog.value = 'keys') },
]

const close = (): void => {
  dialog.value = undefined
}

/** The commands that have no button of their own at the top, each with its key. */
export function MoreMenu() {
  const roving = useRoving<HTMLUListElement>('li')
  return (
    <dialog
      class="dropdown range-picker commands"
      aria-label={moreTexts.title}
      {...useDialog(close)}
    >
      <ul {...roving}>
        {commands().map(({ text, key, act }) => (
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
