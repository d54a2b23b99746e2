import { appendFunction } from './append-function.js'
import type { Names } from './names.js'

/**
 * Who answers for an event that several processes may have had kept: see append-search.ts. Processes of
 * versions 2 to 5 take part, as they append by the same function.
 */
export const migration6 = (names: Names): string => `
  CREATE TABLE ${names.takers} (
    tail text COLLATE "C" NOT NULL,
    attempt uuid NOT NULL,
    taken_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tail, attempt)
  );
  CREATE INDEX takers_taken_at ON ${names.takers} (taken_at);
  ${appendFunction(names)}
`
