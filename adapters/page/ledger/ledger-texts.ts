import { byLanguage } from '../data/language.js'
import { formatNumber, formatPlural } from '../data/format.js'
import { MAX_WAITING, type ProvedPlace } from './condition.js'

const waitingText = (count: number): string =>
  count >= MAX_WAITING ? `${formatNumber(count)}+` : formatNumber(count)

const en = {
  title: 'Ledger',
  seal: 'Seal',
  loading: 'Loading the ledger',
  open: 'Not sealed: the event is sealed when it closes',
  waiting: 'Not sealed yet',
  within: (until: string) => `The log is sealed until ${until}`,
  proved: ({ index, size }: ProvedPlace) =>
    `Sealed as leaf ${formatNumber(index)}, in a tree of ${formatPlural(size, 'leaf', 'leaves')}`,
  proof: 'Proof',
  proofHint: 'Download the proof as a file',
  notSealed: 'Not sealed so far. The event was stored late, or before the ledger began.',
  changed: 'This event is not the one that was sealed.',
  again: 'Try again',
  noEvent: 'The event was removed, or you may not see its proof.',
  noProof: 'The answer is no proof.',
  attention: 'The ledger needs attention',
  well: 'No fault is known.',
  faults: {
    diverged: () =>
      'The tables of the ledger are not those that were signed. Nothing is sealed until an operator has found the reason.',
    tampered: (at: string, findings: string) =>
      `The verification of ${at} found that the log was changed. Findings: ${findings}.`,
    failed: () => 'The last attempt to seal has failed. The service tries again.',
    anchor: (name: string, error: string) => `The anchor ${name} has no new head: ${error}`,
    behind: (since: string) => `Events have waited to be sealed since ${since}.`,
  },
  facts: {
    state: 'State',
    until: 'Sealed until',
    size: 'Leaves',
    waiting: 'Waiting',
    verification: 'Last verified',
    anchors: 'Anchors',
    origin: 'Origin',
    vkey: 'Verifier key',
  },
  states: {
    sealing: 'this process seals the log',
    standby: 'another process seals the log',
    diverged: 'stopped',
    failed: 'failed, trying again',
    'no-signer': 'this process has no signer',
  },
  never: 'not yet',
  noAnchors: 'none in this process',
  waitingEvents: waitingText,
  results: {
    intact: 'intact',
    'self-consistent': 'nothing is wrong, but no head from outside was given',
    tampered: 'changed',
  },
  verified: (result: string, events: number, findings: number) =>
    [
      result,
      formatPlural(events, 'event', 'events'),
      ...(findings === 0 ? [] : [formatPlural(findings, 'finding', 'findings')]),
    ].join(', '),
  anchored: (at: string, size: number) => `${at}, ${formatPlural(size, 'leaf', 'leaves')}`,
  copyKey: 'Copy key',
}

const de: typeof en = {
  title: 'Hauptbuch',
  seal: 'Siegel',
  loading: 'Das Hauptbuch wird geladen',
  open: 'Nicht versiegelt: Das Ereignis wird beim Abschluss versiegelt',
  waiting: 'Noch nicht versiegelt',
  within: (until) => `Das Protokoll ist bis ${until} versiegelt`,
  proved: ({ index, size }) =>
    `Versiegelt als Blatt ${formatNumber(index)}, in einem Baum von ${formatPlural(size, 'Blatt', 'Blättern')}`,
  proof: 'Nachweis',
  proofHint: 'Den Nachweis als Datei herunterladen',
  notSealed:
    'Bisher nicht versiegelt. Das Ereignis wurde verspätet gespeichert, oder bevor es das Hauptbuch gab.',
  changed: 'Dieses Ereignis ist nicht das versiegelte.',
  again: 'Erneut versuchen',
  noEvent: 'Das Ereignis wurde entfernt, oder Sie dürfen seinen Nachweis nicht sehen.',
  noProof: 'Die Antwort ist kein Nachweis.',
  attention: 'Das Hauptbuch braucht Aufmerksamkeit',
  well: 'Kein Fehler ist bekannt.',
  faults: {
    diverged: () =>
      'Die Tabellen des Hauptbuchs sind nicht die signierten. Nichts wird versiegelt, bis der Betrieb den Grund gefunden hat.',
    tampered: (at, findings) =>
      `Die Prüfung vom ${at} hat ergeben, dass das Protokoll verändert wurde. Befunde: ${findings}.`,
    failed: () =>
      'Der letzte Versuch zu versiegeln ist gescheitert. Der Dienst versucht es erneut.',
    anchor: (name, error) => `Der Anker ${name} hat keinen neuen Kopf: ${error}`,
    behind: (since) => `Ereignisse warten seit ${since} auf die Versiegelung.`,
  },
  facts: {
    state: 'Zustand',
    until: 'Versiegelt bis',
    size: 'Blätter',
    waiting: 'Wartend',
    verification: 'Zuletzt geprüft',
    anchors: 'Anker',
    origin: 'Herkunft',
    vkey: 'Prüfschlüssel',
  },
  states: {
    sealing: 'dieser Prozess versiegelt das Protokoll',
    standby: 'ein anderer Prozess versiegelt das Protokoll',
    diverged: 'angehalten',
    failed: 'gescheitert, neuer Versuch folgt',
    'no-signer': 'dieser Prozess kann nicht signieren',
  },
  never: 'noch nicht',
  noAnchors: 'keine in diesem Prozess',
  waitingEvents: waitingText,
  results: {
    intact: 'unverändert',
    'self-consistent': 'kein Fehler, aber ohne Kopf von außen',
    tampered: 'verändert',
  },
  verified: (result, events, findings) =>
    [
      result,
      formatPlural(events, 'Ereignis', 'Ereignisse'),
      ...(findings === 0 ? [] : [formatPlural(findings, 'Befund', 'Befunde')]),
    ].join(', '),
  anchored: (at, size) => `${at}, ${formatPlural(size, 'Blatt', 'Blätter')}`,
  copyKey: 'Schlüssel kopieren',
}

/** The texts of the ledger, which is loaded on demand. */
export const ledgerTexts = byLanguage({ en, de })
