def fixtures(): return []
