import { useEffect } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import { visibleText } from '../../../src/describing/visible-text.js'
import { formatNumber } from '../data/format.js'
import { formatFull } from '../data/more-formats.js'
import { isolated } from '../data/isolated.js'
import { ownValue } from '../data/own-property.js'
import { errorText } from '../list/load-failure.js'
import { copyText } from '../ui/copy-text.js'
import { dialog } from '../ui/dialog.js'
import { Mark } from '../ui/icon.js'
import { useDialog } from '../ui/native-dialog.js'
import { SheetHead } from '../ui/sheet-head.js'
import { type Anchor, type Condition, type Fault, faultsOf } from './condition.js'
import { ledgerTexts as words } from './ledger-texts.js'
import { condition, failure, readLedger } from './loading.js'

const close = (): void => {
  dialog.value = undefined
}

function Fact({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{label}</dt>
      {children}
    </>
  )
}

function faultText({ kind, about, detail }: Fault): string {
  const isTime = kind === 'tampered' || kind === 'behind'
  return words.faults[kind](
    isTime ? formatFull(about) : isolated(visibleText(about)),
    visibleText(detail),
  )
}

function Faults({ faults }: { faults: readonly Fault[] }) {
  if (faults.length === 0) return <p>{words.well}</p>
  return (
    <ul class="ledger-faults">
      {faults.map((fault) => (
        <li key={`${fault.kind} ${fault.about}`} class={`level-${fault.level}`}>
          <Mark level={fault.level} />
          <span>{faultText(fault)}</span>
        </li>
      ))}
    </ul>
  )
}

const anchorText = ({ at, size }: Anchor): string =>
  at === null ? words.never : words.anchored(formatFull(at), size)

function Facts({ known }: { known: Condition }) {
  const { state, sealed_until: until, size, waiting, verification, anchors, origin, vkey } = known
  return (
    <dl class="facts">
      <Fact label={words.facts.state}>
        <dd>{ownValue(words.states, state) ?? visibleText(state)}</dd>
      </Fact>
      <Fact label={words.facts.until}>
        <dd>{until === null ? words.never : formatFull(until)}</dd>
      </Fact>
      <Fact label={words.facts.size}>
        <dd>{formatNumber(size)}</dd>
      </Fact>
      <Fact label={words.facts.waiting}>
        <dd>{words.waitingEvents(waiting)}</dd>
      </Fact>
      <Fact label={words.facts.verification}>
        <dd>
          {verification === null ? (
            words.never
          ) : (
            <>
              {formatFull(verification.at)}{' '}
              <small>
                {words.verified(
                  ownValue(words.results, verification.result) ?? visibleText(verification.result),
                  verification.event_count,
                  verification.finding_count,
                )}
              </small>
            </>
          )}
        </dd>
      </Fact>
      <Fact label={words.facts.anchors}>
        {anchors.length === 0 && <dd>{words.noAnchors}</dd>}
        {anchors.map((anchor) => (
          <dd key={anchor.name}>
            <bdi>{visibleText(anchor.name)}</bdi> <small>{anchorText(anchor)}</small>
          </dd>
        ))}
      </Fact>
      <Fact label={words.facts.origin}>
        <dd class="mono">{visibleText(origin)}</dd>
      </Fact>
      <Fact label={words.facts.vkey}>
        <dd>
          <span class="mono">{visibleText(vkey)}</span>{' '}
          <button type="button" class="link" onClick={() => void copyText(vkey)}>
            {words.copyKey}
          </button>
        </dd>
      </Fact>
    </dl>
  )
}

/** The state of the ledger, read when the sheet opens. */
export function LedgerSheet() {
  const sheet = useDialog(close)
  useEffect(() => void readLedger(), [])
  const known = condition.value
  return (
    <dialog class="sheet ledger" aria-label={words.title} {...sheet}>
      <SheetHead title={words.title} close={close} />
      <div class="ledger-body">
        {failure.value && (
          <p role="alert">
            {errorText(failure.value)}{' '}
            <button type="button" class="link" onClick={() => void readLedger()}>
              {words.again}
            </button>
          </p>
        )}
        {known ? (
          <>
            <Faults faults={faultsOf(known)} />
            <Facts known={known} />
          </>
        ) : (
          !failure.value && <p>{words.loading}</p>
        )}
      </div>
    </dialog>
  )
}
