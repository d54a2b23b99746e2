import { copyCurl, copyLink } from '../list/copy-commands.js'
import { liveState, togglePause } from '../list/live-updates.js'
import { account, may } from '../data/account.js'
import { toggleTheme } from '../data/preferences.js'
import { zone } from '../data/address.js'
import { type Command, CommandMenu } from '../ui/command-menu.js'
import { dialog } from '../ui/dialog.js'
import { openBuilder } from '../ui/query-commands.js'
import { moreTexts } from './more-texts.js'

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
  ...(account.value?.ledger
    ? [{ text: moreTexts.ledger, act: () => (dialog.value = 'ledger') }]
    : []),
  { text: moreTexts.theme, act: toggleTheme },
  { text: moreTexts.keys, key: '?', act: () => (dialog.value = 'keys') },
]

const close = (): void => {
  dialog.value = undefined
}

/** The commands without a button at the top, each with its key. */
export function MoreMenu() {
  return <CommandMenu label={moreTexts.title} commands={commands()} close={close} />
}
