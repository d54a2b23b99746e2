import { may } from '../data/account.js'
import { letterKeys } from '../data/preferences.js'
import { useDialog } from './native-dialog.js'
import { SheetHead } from './sheet-head.js'
import { keysTexts } from './keys-texts.js'
import { texts } from './texts.js'
import { dialog } from './dialog.js'

/** Keys for the same command share a row. */
const KEYS = {
  move: [
    [['j', '↓'], 'older'],
    [['k', '↑'], 'newer'],
    [['g'], 'newest'],
    [['←', '→'], 'cell'],
    [['[', ']'], 'window'],
    [['?'], 'keys'],
  ],
  read: [
    [['Enter'], 'open'],
    [['Esc'], 'close'],
    [['d'], 'json'],
    [['n'], 'related'],
    [['h'], 'history'],
    [['m'], 'compare'],
    [['l'], 'live'],
    [['.'], 'waiting'],
  ],
  find: [
    [['/'], 'filter'],
    [['b'], 'builder'],
    [['i'], 'is'],
    [['x'], 'isNot'],
    [['⌫'], 'takeOut'],
    [['u'], 'zone'],
  ],
  take: [
    [['y'], 'link'],
    [['c'], 'curl'],
    [['e'], 'export'],
    [['p'], 'report'],
  ],
} as const satisfies Readonly<
  Record<
    keyof typeof keysTexts.groups,
    readonly (readonly [readonly string[], keyof typeof keysTexts.commands])[]
  >
>

/** Commands that need the right to export. */
const EXPORTING: ReadonlySet<string> = new Set(['export', 'report'])

const isOffered = (command: string): boolean => !EXPORTING.has(command) || may('export')

const close = (): void => {
  dialog.value = undefined
}

function Group({ name }: { name: keyof typeof KEYS }) {
  return (
    <div>
      <h3>{keysTexts.groups[name]}</h3>
      <dl>
        {KEYS[name]
          .filter(([, command]) => isOffered(command))
          .map(([keys, command]) => (
            <>
              <dt key={command}>
                {keys.map((key, i) => (
                  <>
                    {i > 0 && <span>{texts.common.or}</span>}
                    <kbd>{key}</kbd>
                  </>
                ))}
              </dt>
              <dd>{keysTexts.commands[command]}</dd>
            </>
          ))}
      </dl>
    </div>
  )
}

/** Lists the keyboard shortcuts, with a switch for single-letter ones. */
export function KeysSheet() {
  const sheet = useDialog(close)
  const isOn = letterKeys.value === 'on'
  return (
    <dialog class="sheet keys" aria-label={keysTexts.title} {...sheet}>
      <SheetHead title={keysTexts.title} close={close} />
      <div class="keys-grid">
        {Object.keys(KEYS).map((name) => (
          <Group key={name} name={name as keyof typeof KEYS} />
        ))}
      </div>
      <label class="keys-switch">
        <input
          type="checkbox"
          role="switch"
          checked={isOn}
          onChange={() => (letterKeys.value = isOn ? 'off' : 'on')}
        />
        {keysTexts.letters}
      </label>
    </dialog>
  )
}
