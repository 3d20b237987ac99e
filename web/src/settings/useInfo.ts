// What the server says about itself: its model, its sandbox, and what is missing.
import { useQuery } from '@tanstack/react-query';
import { api } from '../lib/api/client';

export const useInfo = () => useQuery({ queryKey: ['info'], queryFn: () => api('get', '/info'), staleTime: 60_000 });
