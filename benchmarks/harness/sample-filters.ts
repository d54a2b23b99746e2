import { TYPES } from './sample-events.js'

/* Filters of many readers, each of which matches few of the sample events. */

/** 15 different ones. */
export const selectiveFilter = (i: number): string =>
  [
    `filter[type_eq]=${TYPES[i % 12]}`,
    'filter[type_start]=error:&filter[parent_node_type_eq]=project',
    `filter[username_eq]=user${i % 10}&filter[url_params_project_code_start]=project-1`,
  ][i % 3]!

/** 1,000 different ones. */
export const differentFilter = (i: number): string =>
  `filter[type_eq]=${TYPES[i % 200]}&filter[duration_ms_gt]=${i}`
