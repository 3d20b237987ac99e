// What the runs of a task took, and how full the window of its model is: one request, made again when a run has ended.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { createContext, useMemo } from 'react';
import { type Answer, api } from '../lib/api/client';

export type Costs = Answer<'/threads/{thread_id}/costs', 'get'>;
export type Spent = NonNullable<Costs['runs']>[number];

/** The costs of a task; over is how many of its runs are over, -1 while that is not known. */
export const useCosts = (thread: string, over: number) =>
  useQuery({
    queryKey: ['costs', thread, over],
    queryFn: ({ signal }) => api('get', '/threads/{thread_id}/costs', { path: { thread_id: thread }, signal }),
    enabled: over > 0,
    staleTime: Infinity,
    retry: false,
    placeholderData: keepPreviousData,
  });

/** What each run of the task took, by its id: for the feet of its answers. */
export const SpentOf = createContext<ReadonlyMap<string, Spent>>(new Map());

export const useSpent = (costs: Costs | undefined): ReadonlyMap<string, Spent> =>
  useMemo(() => new Map((costs?.runs ?? []).map((r) => [r.run_id, r])), [costs]);
