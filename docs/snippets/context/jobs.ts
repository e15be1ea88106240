declare class Jobs {}
